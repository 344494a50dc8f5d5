package org.rowankv.daemon.local;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.File;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LocalProcessTest {
    private static final long PATIENCE_MS = 60_000;

    @TempDir
    Path dir;

    private static Process java(String option) throws Exception {
        return new ProcessBuilder(
                        System.getProperty("java.home") + File.separator + "bin" + File.separator + "java", option)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
    }

    @Test
    void shouldTakeOneThatEndedBeforeItWasAskedForOneThatEndedByItself() throws Exception {
        final Process process = java("-version");
        assertThat(process.waitFor(PATIENCE_MS, TimeUnit.MILLISECONDS)).isTrue();
        // A signal to it is refused now.
        assertThat(process.toHandle().destroy()).isFalse();
        assertThat(new LocalProcess(dir, "ended").end(process.toHandle(), PATIENCE_MS))
                .isTrue();
    }

    @Test
    void shouldSayThatOneHadToBeEndedByForce() throws Exception {
        final Process process =
                new ProcessBuilder("sh", "-c", "trap '' TERM; echo deaf; while :; do sleep 0.2; done").start();
        try (BufferedReader lines = process.inputReader()) {
            assertThat(lines.readLine()).isEqualTo("deaf");
            final boolean byItself = new LocalProcess(dir, "deaf").end(process.toHandle(), 300);
            assertThat(byItself).isFalse();
            assertThat(process.waitFor(PATIENCE_MS, TimeUnit.MILLISECONDS)).isTrue();
        }
    }
}
