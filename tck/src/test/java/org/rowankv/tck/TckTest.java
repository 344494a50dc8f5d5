package org.rowankv.tck;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The official TCK, in JVMs of its own: nothing may fail, and no test may disappear. The totals stand in
 * {@code tck-totals.txt}, line for line as the command prints them.
 */
class TckTest {
    @TempDir
    Path directory;

    @Test
    void shouldPassTheTckWithOneServerAndWithThree() throws Exception {
        final Process one = start(1);
        final Process three = start(3);
        check(one, 1);
        check(three, 3);
    }

    private Process start(int servers) throws IOException {
        return new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx512m",
                        "-Djava.util.logging.config.file=" + quietLogging(),
                        "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
                        "-cp",
                        System.getProperty("java.class.path"),
                        TckCommand.class.getName(),
                        "--servers",
                        Integer.toString(servers))
                .redirectErrorStream(true)
                .redirectOutput(output(servers).toFile())
                .start();
    }

    private Path output(int servers) {
        return directory.resolve("tck-" + servers + ".txt");
    }

    /** The TCK logs every step of its own servers. */
    private Path quietLogging() throws IOException {
        return Files.writeString(directory.resolve("logging.properties"), ".level=OFF\n");
    }

    private void check(Process process, int servers) throws IOException, InterruptedException {
        final boolean ended = process.waitFor(5, TimeUnit.MINUTES);
        process.destroyForcibly();
        final List<String> lines = Files.readAllLines(output(servers));
        assertThat(ended).as("ended in time: %s", lines).isTrue();
        System.out.println(lines.get(lines.size() - 1) + " servers=" + servers);
        assertThat(lines.get(lines.size() - 1))
                .as("%s servers:%n%s", servers, String.join("\n", lines))
                .isEqualTo(expected());
        assertThat(process.exitValue()).isZero();
    }

    private static String expected() throws IOException {
        try (InputStream in = TckTest.class.getResourceAsStream("/tck-totals.txt")) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8).trim();
        }
    }
}
