package org.rowankv.check;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rowankv.daemon.CommandProcess;
import org.rowankv.tools.StoreCommand;

class FailoverDemoCommandTest {
    @Test
    void shouldShowAnApplicationThatNoticesNothingButADelay() throws Exception {
        final CommandProcess process =
                CommandProcess.run(FailoverDemoCommand.class, "--seconds", "5", "--server", "manager");
        process.assertThatLastLine()
                .matches("failover: operations=[1-9][0-9]* longest_gap_ms=[1-9][0-9]* failures=0 wrong=0 whole=true");
        assertThat(process.exitCode()).isZero();
        assertThat(process.lines())
                .anyMatch(line -> line.matches(" +1 s \\[.*SIGKILL of server-[123], the manager"))
                .anyMatch(line -> line.matches(" +3 s \\[.*server-[123] starts"));
    }

    @ParameterizedTest
    @CsvSource({
        "--server, server-4, '--server server-4 is no server: use manager, or server-1 to server-3'",
        "--seconds, 4, --seconds is 4"
    })
    void shouldSayWhatIsWrongWithAnOption(String option, String value, String message) {
        final StringWriter errors = new StringWriter();
        final int exitCode = StoreCommand.line(new FailoverDemoCommand())
                .setErr(new PrintWriter(errors))
                .execute(option, value);
        assertThat(exitCode).isEqualTo(2);
        assertThat(errors.toString()).contains(message);
    }
}
