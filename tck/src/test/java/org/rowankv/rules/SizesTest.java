package org.rowankv.rules;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongPredicate;
import org.junit.jupiter.api.Test;

/** Size limits of files and packages: a file too long for one sitting covers two subjects. */
final class SizesTest {
    private static final int SPLIT_IT_SOON = 480;
    private static final int HARD_STOP = 520;
    private static final long MOST_TYPES = 20;
    /** Exceptions: an area has many tables, and a simulator imitates all that surrounds a server. */
    private static final Map<String, Long> LARGE_PACKAGES = Map.of(
            "org.rowankv.server.area",
            25L,
            "org.rowankv.sim",
            34L,
            "org.rowankv.sim.embedded",
            32L,
            "org.rowankv.sim.cluster",
            38L);

    @Test
    void shouldKeepEveryMainFileBelowTheHardStop() {
        final List<String> growing = filesWhoseLength(lines -> lines > SPLIT_IT_SOON);
        if (!growing.isEmpty()) {
            System.out.println("Over " + SPLIT_IT_SOON + " lines, to be split by concern: " + growing);
        }

        assertThat(SourceFiles.all()).isNotEmpty();
        assertThat(filesWhoseLength(lines -> lines > HARD_STOP)).isEmpty();
    }

    @Test
    void shouldKeepEveryPackageSmallEnoughToKnow() {
        final Map<String, Long> tooLarge = new TreeMap<>(SourceFiles.typesByPackage());
        assertThat(tooLarge).hasSizeGreaterThan(50);
        tooLarge.entrySet().removeIf(each -> each.getValue() <= LARGE_PACKAGES.getOrDefault(each.getKey(), MOST_TYPES));

        assertThat(tooLarge).as("packages of too many types").isEmpty();
    }

    /** A package description decides what belongs in the package. */
    @Test
    void shouldDescribeEveryPackage() {
        assertThat(SourceFiles.packages())
                .isNotEmpty()
                .allSatisfy(name -> assertThat(SourceFiles.descriptionsOf(name))
                        .as("descriptions of %s", name)
                        .singleElement()
                        .asString()
                        .startsWith("/**"));
    }

    private static List<String> filesWhoseLength(LongPredicate matches) {
        final Path root = SourceFiles.root();
        return SourceFiles.all().stream()
                .filter(file -> matches.test(SourceFiles.lineCount(file)))
                .map(file -> root.relativize(file) + " (" + SourceFiles.lineCount(file) + ")")
                .toList();
    }
}
