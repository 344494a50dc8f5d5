package org.rowankv.samples.plain;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class WordCountTest {
    @TempDir
    Path directory;

    @Test
    void shouldCountOnFromRunToRun() {
        final URI store = URI.create("rowan:embedded?capacity=16m&dir=" + directory);

        assertThat(WordCount.count(store, List.of("to", "be", "or", "not", "to", "be")))
                .hasToString("{be=2, not=1, or=1, to=2}");
        assertThat(WordCount.count(store, List.of("to"))).containsEntry("to", 3).containsEntry("or", 1);
    }
}
