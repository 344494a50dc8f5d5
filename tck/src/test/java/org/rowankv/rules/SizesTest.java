package org.rowankv.rules;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.function.LongPredicate;
import org.junit.jupiter.api.Test;

/** A file that grows past what one reads at a sitting is two subjects. */
final class SizesTest {
    private static final int SPLIT_IT_SOON = 500;
    private static final int HARD_STOP = 800;

    @Test
    void shouldKeepEveryMainFileBelowTheHardStop() {
        final List<String> growing = filesWhoseLength(lines -> lines > SPLIT_IT_SOON);
        if (!growing.isEmpty()) {
            System.out.println("Over " + SPLIT_IT_SOON + " lines, to be split by concern: " + growing);
        }

        assertThat(SourceFiles.all()).isNotEmpty();
        assertThat(filesWhoseLength(lines -> lines > HARD_STOP)).isEmpty();
    }

    private static List<String> filesWhoseLength(LongPredicate matches) {
        final Path root = SourceFiles.root();
        return SourceFiles.all().stream()
                .filter(file -> matches.test(SourceFiles.lineCount(file)))
                .map(file -> root.relativize(file) + " (" + SourceFiles.lineCount(file) + ")")
                .toList();
    }
}
