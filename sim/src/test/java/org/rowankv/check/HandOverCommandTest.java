package org.rowankv.check;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.rowankv.daemon.CommandProcess;
import org.rowankv.tools.StoreCommand;

class HandOverCommandTest {
    @Test
    void shouldTransferShardsWithoutAFailure() throws Exception {
        final CommandProcess process = CommandProcess.run(HandOverCommand.class, "--rounds", "5", "--warm-up", "2");
        process.assertThatLastLine()
                .matches("bench handover: transfers=[1-5] put_p50_ms=[0-9.]+ put_p99_ms=[0-9.]+ get_p50_ms=[0-9.]+"
                        + " get_p99_ms=[0-9.]+ failures=0");
        assertThat(process.exitCode()).isZero();
    }

    @Test
    void shouldSayWhatIsWrongWithAnOption() {
        final StringWriter errors = new StringWriter();
        final int exitCode = StoreCommand.line(new HandOverCommand())
                .setErr(new PrintWriter(errors))
                .execute("--rounds", "0");
        assertThat(exitCode).isEqualTo(2);
        assertThat(errors.toString()).contains("--rounds is 0, and has to be at least 1");
        final int warmUpCode = StoreCommand.line(new HandOverCommand())
                .setErr(new PrintWriter(errors))
                .execute("--warm-up", "-1");
        assertThat(warmUpCode).isEqualTo(2);
        assertThat(errors.toString()).contains("--warm-up is -1, and must not be negative");
    }
}
