package org.rowankv.check.disturb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A stopped process continues, even if the stopping process dies. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class StoppedProcessTest {
    private Process victim;

    /** Stops the process with that number until its input ends. */
    static final class Stopper {
        private Stopper() {}

        public static void main(String[] arguments) throws IOException {
            final ProcessHandle victim =
                    ProcessHandle.of(Long.parseLong(arguments[0])).orElseThrow();
            try (StoppedProcess stopped = StoppedProcess.stop(victim)) {
                System.out.println("STOPPED");
                final int end = System.in.read();
                assertThat(end).isNegative();
                assertThat(stopped).isNotNull();
            }
        }
    }

    @BeforeEach
    void start() throws IOException {
        assumeTrue(Files.exists(Path.of("/proc/self/stat")), "the state of a process is read in /proc");
        victim = new ProcessBuilder("cat").start();
    }

    @AfterEach
    void end() throws InterruptedException {
        victim.destroyForcibly();
        assertThat(victim.waitFor()).isNotNegative();
    }

    private boolean isStopped() throws IOException {
        final String stat = Files.readString(Path.of("/proc/" + victim.pid() + "/stat"), StandardCharsets.UTF_8);
        return stat.substring(stat.lastIndexOf(')') + 2).startsWith("T");
    }

    private void awaitStopped(boolean expected) {
        await().atMost(Duration.ofSeconds(60)).until(() -> isStopped() == expected);
    }

    @Test
    void shouldStopAndGoOn() throws IOException {
        try (StoppedProcess stopped = StoppedProcess.stop(victim.toHandle())) {
            assertThat(stopped).isNotNull();
            awaitStopped(true);
        }
        awaitStopped(false);
    }

    @Test
    void shouldSayThatAProcessCannotBeStopped() throws Exception {
        victim.destroyForcibly();
        assertThat(victim.waitFor()).isNotZero();
        assertThatThrownBy(() -> StoppedProcess.stop(victim.toHandle()))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("cannot be stopped");
    }

    private Process stopper() throws IOException {
        return new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx64m",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Stopper.class.getName(),
                        Long.toString(victim.pid()))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    @Test
    void shouldGoOnWhenItsStopperIsKilled() throws Exception {
        final Process stopper = stopper();
        try (BufferedReader lines = stopper.inputReader(StandardCharsets.UTF_8)) {
            assertThat(lines.readLine()).isEqualTo("STOPPED");
            awaitStopped(true);
        } finally {
            stopper.destroyForcibly();
            assertThat(stopper.waitFor()).isNotZero();
        }
        awaitStopped(false);
    }

    @Test
    void shouldGoOnWhenItsStopperIsAskedToEnd() throws Exception {
        final Process stopper = stopper();
        try (BufferedReader lines = stopper.inputReader(StandardCharsets.UTF_8)) {
            assertThat(lines.readLine()).isEqualTo("STOPPED");
            awaitStopped(true);
            stopper.destroy();
            awaitStopped(false);
        } finally {
            stopper.destroyForcibly();
            assertThat(stopper.waitFor()).isNotZero();
        }
    }
}
