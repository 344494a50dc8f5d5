package org.rowankv.samples.dropin;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.daemon.local.LocalPorts;
import picocli.CommandLine;

/** The application while one server and then all are killed, once; {@code ./rowan demo outage} does it more often. */
final class OutageDemoTest {
    @TempDir
    Path directory;

    @AfterEach
    void clear() {
        System.clearProperty("rowan.daemon.classpath");
    }

    private static int demo(ByteArrayOutputStream output, String... arguments) {
        final PrintStream before = System.out;
        System.setOut(new PrintStream(output, true, StandardCharsets.UTF_8));
        try {
            return new CommandLine(new OutageDemo()).execute(arguments);
        } finally {
            System.setOut(before);
            System.out.println(output.toString(StandardCharsets.UTF_8));
        }
    }

    @Test
    void shouldFailNoRequestWhileServersAreKilled() throws Exception {
        System.setProperty("rowan.daemon.classpath", System.getProperty("java.class.path"));
        final ByteArrayOutputStream output = new ByteArrayOutputStream();
        final int code = demo(
                output, "--rounds=1", "--operation-timeout=240", "--port=" + LocalPorts.free(10), "--dir=" + directory);

        assertThat(output.toString(StandardCharsets.UTF_8).lines().filter(line -> line.startsWith("outage: ")))
                .hasSize(3)
                .allMatch(line -> line.contains(" http_5xx=0 failed=0 stale=0 "));
        assertThat(code).isZero();
    }

    @Test
    void shouldSayThatTheServersHaveNoClassPath() {
        assertThat(demo(new ByteArrayOutputStream(), "--dir=" + directory)).isEqualTo(CommandLine.ExitCode.USAGE);
        assertThat(demo(new ByteArrayOutputStream(), "--rounds=0")).isEqualTo(CommandLine.ExitCode.USAGE);
    }
}
