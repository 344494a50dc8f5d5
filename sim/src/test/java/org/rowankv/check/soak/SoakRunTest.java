package org.rowankv.check.soak;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rowankv.runtime.CounterStarts;
import org.rowankv.runtime.SystemClock;

/** The run detects a store with wrong replies, and one that grows. */
class SoakRunTest {
    private static final long MIB = 1L << 20;

    @TempDir
    private Path dir;

    @ParameterizedTest
    @EnumSource(StaleSession.Lie.class)
    void shouldFindALie(StaleSession.Lie lie) {
        // The run ends at its first finding.
        final SoakSettings settings =
                new SoakSettings(60, 60, 1, 8 * MIB, 1, 1, 1, CounterStarts.USUAL, 1, 42, dir.resolve("store"));
        final PrintStream out = new PrintStream(new ByteArrayOutputStream(), true, StandardCharsets.UTF_8);
        final SoakReport report =
                new SoakRun(settings, SystemClock.INSTANCE, out, session -> new StaleSession(session, lie)).run();
        assertThat(report.violations()).isPositive();
        assertThat(report.firstViolations()).isNotEmpty();
        assertThat(report.isWell()).isFalse();
    }

    private static SoakSample quarter(long heap, long files) {
        return new SoakSample(1, 1, 85, 1, 1, 1, 1, 1, heap, files);
    }

    private static String whyGrown(long... heapThenFiles) {
        final List<SoakSample> quarters = new ArrayList<>();
        for (int i = 0; i < heapThenFiles.length; i += 2) {
            quarters.add(quarter(heapThenFiles[i] * MIB, heapThenFiles[i + 1] * MIB));
        }
        return SoakRun.whyGrown(quarters);
    }

    @Test
    void shouldTellGrowthFromNoise() {
        assertThat(whyGrown(100, 50, 130, 50, 90, 50, 117, 50)).isNull();
        assertThat(whyGrown(100, 50, 100, 50, 100, 50, 119, 50)).contains("heap");
        assertThat(whyGrown(100, 50, 100, 50, 100, 50, 100, 56)).contains("files");
    }

    /** Checkpoint files are created and deleted while the lengths are read. */
    @Test
    void shouldCountFilesWhileOthersVanish() throws IOException {
        Files.write(dir.resolve("stays"), new byte[100]);
        final AtomicBoolean over = new AtomicBoolean();
        final CompletableFuture<Void> others = CompletableFuture.runAsync(() -> {
            while (!over.get()) {
                try {
                    for (int i = 0; i < 20; i++) {
                        Files.createFile(dir.resolve("goes-" + i));
                    }
                    for (int i = 0; i < 20; i++) {
                        Files.delete(dir.resolve("goes-" + i));
                    }
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
        });
        try {
            for (int look = 0; look < 2_000; look++) {
                assertThat(SoakRun.fileBytes(dir)).isEqualTo(100);
            }
        } finally {
            over.set(true);
            others.join();
        }
    }
}
