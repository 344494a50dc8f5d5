package org.rowankv.rules;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests named in documents exist. */
final class NamedTestsTest {
    private static final Pattern QUOTED = Pattern.compile("`([^`\n]+)`");
    private static final Pattern CLASS = Pattern.compile("([A-Z]\\w*(?:Test|Conformance))");
    private static final Pattern METHOD = Pattern.compile("([A-Z]\\w*)(?:#|\\.(?=should))(\\w+)");
    private static final Pattern OF_THE_SAME_CLASS = Pattern.compile("#(\\w+)");

    /** Classes of the JSR's own suite. */
    private static final Set<String> THE_TCKS = Set.of("StoreByReferenceTest", "TypesTest", "CachingTest");

    @ParameterizedTest
    @ValueSource(strings = {"jcache-provider/CONFORMANCE.md", "docs/testing.md"})
    void shouldNameOnlyTestsThatExist(String document) throws IOException {
        final String text = Files.readString(SourceFiles.root().resolve(document));
        final List<String> missing = new ArrayList<>();
        final int found = look(text, testSources(), missing);
        assertThat(missing).as("named in %s, but missing", document).isEmpty();
        assertThat(found).isGreaterThan(30);
    }

    @Test
    void shouldFindNamesOfNothing() {
        final Map<String, String> sources = Map.of("ATest", "class ATest { void shouldWork() {} }");
        final List<String> missing = new ArrayList<>();
        final int found = look(
                "`ATest` `ATest#shouldWork`, `#shouldWork` `ATest.shouldWork` but `BTest`, `ATest#shouldFail`, `#shouldNot`,"
                        + " `ATest.shouldFly`, `BTest.shouldWork`, and of no concern `get`, `Setting`, `a.b.C`",
                sources,
                missing);
        assertThat(found).isEqualTo(4);
        assertThat(missing)
                .containsExactly("BTest", "ATest#shouldFail", "ATest#shouldNot", "ATest#shouldFly", "BTest#shouldWork");
    }

    /** Returns the number of names found; adds the missing ones to the list. */
    private static int look(String text, Map<String, String> sources, List<String> missing) {
        int found = 0;
        String latest = "";
        final Matcher quoted = QUOTED.matcher(text);
        while (quoted.find()) {
            final Matcher type = CLASS.matcher(quoted.group(1));
            final Matcher method = METHOD.matcher(quoted.group(1));
            final Matcher same = OF_THE_SAME_CLASS.matcher(quoted.group(1));
            final String name;
            if (type.matches()) {
                latest = type.group(1);
                name = latest;
            } else if (method.matches()) {
                latest = method.group(1);
                name = latest + '#' + method.group(2);
            } else if (same.matches()) {
                name = latest + '#' + same.group(1);
            } else {
                continue;
            }
            if (THE_TCKS.contains(latest) || exists(name, sources)) {
                found++;
            } else {
                missing.add(name);
            }
        }
        return found;
    }

    private static boolean exists(String name, Map<String, String> sources) {
        final String[] parts = name.split("#", 2);
        final String source = sources.get(parts[0]);
        return source != null
                && (parts.length == 1
                        || Pattern.compile("\\bvoid " + parts[1] + "\\(")
                                .matcher(source)
                                .find());
    }

    /** Source text of every test class of all modules, by simple name. */
    private static Map<String, String> testSources() throws IOException {
        final Map<String, String> sources = new HashMap<>();
        for (Path module : SourceFiles.modules()) {
            final Path tests = module.resolve("src/test/java");
            if (Files.isDirectory(tests)) {
                try (Stream<Path> files = Files.walk(tests)) {
                    for (Path file : files.filter(each -> each.toString().endsWith(".java"))
                            .toList()) {
                        final String name = file.getFileName().toString().replace(".java", "");
                        sources.merge(name, Files.readString(file), (one, other) -> one + other);
                    }
                }
            }
        }
        return sources;
    }
}
