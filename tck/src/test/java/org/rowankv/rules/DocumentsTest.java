package org.rowankv.rules;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.rowankv.jcache.configuration.Setting;

/** What a document says about commands, settings, metrics, types and other documents is true. */
final class DocumentsTest {
    /** 22,000 for the store itself, and what frameworks, codecs, large values, failover, JDBC, RDMA, a runbook and more need. */
    private static final long MOST_WORDS = 36_158;

    private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s]+)\\)");
    private static final Pattern COMMAND = Pattern.compile("\\./rowan ([a-z][a-z-]*)");
    private static final Pattern FLAG = Pattern.compile("(?<![\\w-])--([a-z][a-z-]+)");
    private static final Pattern PARAMETER = Pattern.compile("rowan:embedded\\?([\\w./,:=&-]+)");
    private static final Pattern METRIC = Pattern.compile("`(rowan_[a-z_]+)(?:\\{[^`]*)?`");
    private static final Pattern TYPE =
            Pattern.compile("`(?:[a-z][\\w.]*\\.)?([A-Z][a-z0-9]+(?:[A-Z][A-Za-z0-9]*)+)(?:[#.(][^`]*)?`");

    /** Types of others that documents name. */
    private static final Set<String> FOREIGN = Set.of(
            "InternalError",
            "ClassCastException",
            "IllegalStateException",
            "UnsupportedOperationException",
            "RejectedExecutionException",
            "CacheException",
            "CacheEvictions",
            "CacheManager",
            "CompletionStage",
            "EntryProcessorException",
            "CacheEntryListenerException",
            "EternalExpiryPolicy",
            "MemorySegment",
            "BigDecimal",
            "BigInteger",
            "StoreByReferenceTest",
            "TypesTest",
            "CachingTest",
            "SuppressWarnings",
            "NullMarked");

    private static String textOf(Path document) {
        try {
            return Files.readString(document);
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    /** What the pattern finds and the test refuses, with the document. */
    private static List<String> wrong(Pattern pattern, Predicate<String> isRight) {
        final List<String> found = new ArrayList<>();
        int seen = 0;
        for (Path document : SourceFiles.documents()) {
            final Matcher matcher = pattern.matcher(textOf(document));
            while (matcher.find()) {
                seen++;
                if (!isRight.test(matcher.group(1))) {
                    found.add(SourceFiles.root().relativize(document) + ": " + matcher.group(1));
                }
            }
        }
        assertThat(seen).as("places that %s finds", pattern).isPositive();
        return found;
    }

    private static String anchor(String heading) {
        return heading.toLowerCase(Locale.ROOT).replaceAll("[^\\w\\- ]", "").replace(' ', '-');
    }

    @Test
    void shouldLinkToWhatIsThere() {
        final List<String> broken = new ArrayList<>();
        for (Path document : SourceFiles.documents()) {
            final Matcher links = LINK.matcher(textOf(document));
            while (links.find()) {
                final String link = links.group(1);
                if (!link.contains("://") && !isThere(document, link)) {
                    broken.add(SourceFiles.root().relativize(document) + ": " + link);
                }
            }
        }
        assertThat(broken).isEmpty();
    }

    private static boolean isThere(Path document, String link) {
        final int hash = link.indexOf('#');
        final String file = hash < 0 ? link : link.substring(0, hash);
        final Path target = file.isEmpty() ? document : document.resolveSibling(file);
        if (!Files.exists(target)) {
            return false;
        }
        return hash < 0
                || textOf(target)
                        .lines()
                        .filter(line -> line.startsWith("#"))
                        .anyMatch(line -> anchor(line.replaceFirst("#+ ", "")).equals(link.substring(hash + 1)));
    }

    @Test
    void shouldNameCommandsOfTheScript() {
        final String script = textOf(SourceFiles.root().resolve("rowan"));
        assertThat(wrong(
                        COMMAND,
                        name -> script.contains("\n" + name + "|")
                                || Set.of("test", "classpath").contains(name)))
                .isEmpty();
    }

    /** Of whatever command: it stands in a source, or follows from a table of options. */
    @Test
    void shouldNameOptionsThatExist() {
        final String sources =
                SourceFiles.texts().stream().map(DocumentsTest::textOf).collect(Collectors.joining());
        final String script = textOf(SourceFiles.root().resolve("rowan"));
        assertThat(wrong(
                        FLAG,
                        name -> sources.contains("\"--" + name + "\"")
                                || script.contains("--" + name)
                                || sources.contains(
                                        "    " + name.toUpperCase(Locale.ROOT).replace('-', '_') + "(\n")
                                || sources.contains(
                                        "    " + name.toUpperCase(Locale.ROOT).replace('-', '_') + "(Setting")
                                || Set.of("release", "add-modules").contains(name)))
                .isEmpty();
    }

    @Test
    void shouldNameSettingsThatExist() {
        final Set<String> known =
                Stream.of(Setting.values()).map(Setting::parameter).collect(Collectors.toSet());
        assertThat(wrong(
                        PARAMETER,
                        parameters -> Stream.of(parameters.split("&"))
                                .map(each -> each.substring(0, each.indexOf('=')))
                                .allMatch(known::contains)))
                .isEmpty();
    }

    @Test
    void shouldNameMetricsThatExist() {
        // MetricsTest compares this table with the product's.
        final Set<String> known = textOf(SourceFiles.root().resolve("docs/operations.md"))
                .lines()
                .filter(line -> line.startsWith("| `rowan_"))
                .map(line -> line.split("`")[1])
                .collect(Collectors.toSet());
        assertThat(wrong(METRIC, known::contains)).isEmpty();
    }

    @Test
    void shouldNameTypesThatExist() {
        final Set<String> known = new TreeSet<>(FOREIGN);
        for (Path file : SourceFiles.withTests()) {
            known.add(file.getFileName().toString().replace(".java", ""));
        }
        assertThat(wrong(TYPE, known::contains)).isEmpty();
    }

    @Test
    void shouldNameEveryModule() {
        final String architecture = textOf(SourceFiles.root().resolve("docs/architecture.md"));
        for (Path module : SourceFiles.modules()) {
            if (!module.equals(SourceFiles.root())) {
                assertThat(architecture).contains('`' + module.getFileName().toString() + '`');
            }
        }
    }

    @Test
    void shouldBeShortEnoughToBeRead() {
        final long words = SourceFiles.documents().stream()
                .mapToLong(document -> textOf(document).strip().split("\\s+").length)
                .sum();
        System.out.println("words in documents: " + words);
        assertThat(words).isLessThanOrEqualTo(MOST_WORDS);
    }
}
