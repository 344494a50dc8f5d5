package org.rowankv.daemon;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

final class HealthCommandTest {
    @Test
    void shouldAskOneQuestion() {
        final StringWriter errors = new StringWriter();
        final int exitCode = new CommandLine(new HealthCommand())
                .setErr(new PrintWriter(errors))
                .execute("--admin", "127.0.0.1:1", "--ready", "--live");
        assertThat(exitCode).isEqualTo(CommandLine.ExitCode.USAGE);
        assertThat(errors.toString()).contains("--ready and --live are two questions");
    }
}
