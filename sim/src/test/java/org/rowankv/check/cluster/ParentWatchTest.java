package org.rowankv.check.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.daemon.Launch;
import org.rowankv.daemon.local.LocalProcess;

/** A command is killed that has started a temporary cluster: no process of it is left. */
@Tag("jvm")
class ParentWatchTest {
    @TempDir
    Path dir;

    private static String started(BufferedReader lines) throws IOException {
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            if (line.startsWith("STARTED ")) {
                return line.substring("STARTED ".length());
            }
        }
        throw new IOException("it ended, and had started nothing");
    }

    @Test
    void shouldEndWithAStarterThatIsKilled() throws Exception {
        final Process starter = new ProcessBuilder(
                        Launch.DEFAULT.java().toString(),
                        "-Xmx128m",
                        "-Djava.io.tmpdir=" + dir,
                        "-cp",
                        System.getProperty("java.class.path"),
                        StartingProcess.class.getName())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        final List<LocalProcess> left;
        try (BufferedReader lines = starter.inputReader(StandardCharsets.UTF_8)) {
            final Path cluster = Path.of(started(lines));
            left = List.of(new LocalProcess(cluster, "server-1"), new LocalProcess(cluster, "zookeeper"));
            assertThat(left).allMatch(each -> each.running().isPresent());
        } finally {
            starter.destroyForcibly();
            assertThat(starter.waitFor()).isNotZero();
        }
        try {
            for (LocalProcess each : left) {
                await().atMost(Duration.ofSeconds(90))
                        .until(() -> each.running().isEmpty());
            }
            assertThat(left.get(0).log())
                    .content()
                    .contains("parent process ended")
                    .contains("server server-1 stopped");
        } finally {
            for (LocalProcess each : left) {
                each.stop(1000); // only if it failed
            }
        }
    }
}
