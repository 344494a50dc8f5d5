package org.rowankv.check.big;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The check of values in parts finds what it must find. */
class BigValueTest {
    @TempDir
    private Path dir;

    @Test
    void shouldFindPartsOfTwoValues() {
        for (int length : new int[] {BigValue.LEAST_LENGTH, 100, 4096, 100_001}) {
            final byte[] value = BigValue.of(3, 4, length);
            assertThat(BigValue.isWhole(value, length)).isTrue();
            assertThat(BigValue.isWhole(value, length - 1))
                    .as("without its end")
                    .isFalse();
        }
        final byte[] first = BigValue.of(3, 4, 5_000);
        final byte[] second = BigValue.of(3, 5, 5_000);
        for (int from = BigValue.LEAST_LENGTH; from < 4_990; from += 97) {
            final byte[] mixed = first.clone();
            System.arraycopy(second, from, mixed, from, 5_000 - from);
            assertThat(BigValue.isWhole(mixed, 5_000))
                    .as("the other from %d", from)
                    .isFalse();
        }
        final byte[] empty = first.clone();
        Arrays.fill(empty, 2_000, 3_000, (byte) 0);
        assertThat(BigValue.isWhole(empty, 5_000)).as("a part of zeroes").isFalse();
    }

    @Test
    void shouldReadWholeLinesOfAJournalOnly() throws IOException {
        final Path path = dir.resolve("journal");
        assertThat(BigJournal.read(path, "acked")).isEmpty();
        try (BigJournal journal = new BigJournal(path)) {
            journal.add("acked", 5);
            journal.add("read", 9);
            journal.add("acked", 7);
        }
        Files.writeString(path, Files.readString(path) + "acked 8");
        assertThat(BigJournal.read(path, "acked")).containsExactly("5", "7");
        assertThat(BigJournal.largest(path, "acked")).isEqualTo(7);
        assertThat(BigJournal.largest(path, "found")).isZero();
    }

    @Test
    void shouldSayThatARunProvedNothing() {
        assertThat(new BigReport(3, 2, 1, 0, 0, 0, List.of()).isWell()).isTrue();
        assertThat(new BigReport(0, 2, 1, 0, 0, 0, List.of()).isWell()).isFalse();
        assertThat(new BigReport(3, 0, 1, 0, 0, 0, List.of()).isWell()).isFalse();
        assertThat(new BigReport(3, 2, 1, 1, 0, 0, List.of()).isWell()).isFalse();
        assertThat(new BigReport(3, 2, 1, 0, 1, 0, List.of()).isWell()).isFalse();
        assertThat(new BigReport(3, 2, 1, 0, 0, 1, List.of()).isWell()).isFalse();
        assertThat(new BigReport(3, 2, 1, 0, 0, 0, List.of("x")).isWell()).isFalse();
    }

    @Test
    void shouldReadSizesAndRefuseNonsense() {
        assertThat(BigSettings.sizes("5m, 64k,700")).containsExactly(5 << 20, 64 << 10, 700);
        assertThatThrownBy(() -> BigSettings.sizes("5x")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new BigSettings(1, 1, 1, List.of(10), 1, 1))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
