package org.rowankv.rules;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** What is published is in the list of versions, and has a name of its own on the module path. */
final class PublishedTest {
    private static String pomOf(Path module) {
        return MessageCodes.textOf(module.resolve("pom.xml"));
    }

    private static List<String> all(String pattern, String text) {
        final List<String> found = new ArrayList<>();
        final Matcher matcher = Pattern.compile(pattern).matcher(text);
        while (matcher.find()) {
            found.add(matcher.group(1));
        }
        return found;
    }

    private static List<String> published() {
        return SourceFiles.modules().stream()
                .map(PublishedTest::pomOf)
                .filter(pom -> pom.contains("<maven.deploy.skip>false</maven.deploy.skip>"))
                .toList();
    }

    @Test
    void shouldBeInTheListOfVersions() {
        final Set<String> artifacts = new TreeSet<>();
        published()
                .forEach(pom -> artifacts.add(all("<artifactId>(rowan-(?!parent)[a-z0-9-]+)</artifactId>", pom)
                        .get(0)));
        final String bom = pomOf(SourceFiles.root().resolve("bom"));
        final List<String> listed = all("<artifactId>(rowan-(?!bom)[a-z0-9-]+)</artifactId>", bom);

        assertThat(listed).containsExactlyInAnyOrderElementsOf(artifacts).contains("rowan-jcache", "rowan-server");
    }

    /** The two starters are the same module, for two versions of Spring Boot. */
    @Test
    void shouldHaveNamesOfTheirOwn() {
        final List<String> names = new ArrayList<>();
        published().forEach(pom -> names.addAll(all("<rowan.module>(org\\.rowankv\\.[a-z]+)</rowan.module>", pom)));

        assertThat(names).hasSameSizeAs(published());
        assertThat(names.remove("org.rowankv.spring")).isTrue();
        assertThat(names).doesNotHaveDuplicates().contains("org.rowankv.spring");
    }

    /** The list has no parent, so that an import brings no other versions: it repeats those of the build. */
    @Test
    void shouldHaveTheVersionsOfTheParent() {
        final String parent = pomOf(SourceFiles.root());
        final String bom = pomOf(SourceFiles.root().resolve("bom"));

        assertThat(all("(?m)^    <version>(.*)</version>", bom))
                .isEqualTo(all("(?m)^    <version>(.*)</version>", parent));
        for (String plugin : List.of("clean", "deploy", "spotless")) {
            assertThat(all(
                            "<artifactId>(?:maven-)?" + plugin
                                    + "-[a-z-]*plugin</artifactId>\\s*<version>(.*)</version>",
                            bom))
                    .as(plugin)
                    .isEqualTo(all("<plugin." + plugin + ".version>(.*)</plugin", parent));
        }
    }
}
