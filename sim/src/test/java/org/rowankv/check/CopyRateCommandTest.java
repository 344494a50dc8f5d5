package org.rowankv.check;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rowankv.daemon.CommandProcess;
import org.rowankv.tools.StoreCommand;

class CopyRateCommandTest {
    @Test
    void shouldMeasureCopiesToAnEmptyDirectory() throws Exception {
        final CommandProcess process = CommandProcess.run(
                CopyRateCommand.class, "--objects", "3000", "--value-bytes", "100", "--seconds", "1");
        process.assertThatLastLine()
                .matches("bench copy: objects=[12][0-9]{3} mb_per_s=[0-9.]+ objects_per_s=[1-9][0-9]* p99_ms=[0-9.]+"
                        + " p99_copying_ms=[0-9.]+ failures=0");
        assertThat(process.exitCode()).isZero();
    }

    @ParameterizedTest
    @CsvSource({
        "--objects, 0, --objects is 0",
        "--value-bytes, 70000, '--value-bytes is 70000, and has to be from 0 to 65536'",
        "--seconds, 0, --seconds is 0"
    })
    void shouldSayWhatIsWrongWithAnOption(String option, String value, String message) {
        final StringWriter errors = new StringWriter();
        final int exitCode = StoreCommand.line(new CopyRateCommand())
                .setErr(new PrintWriter(errors))
                .execute(option, value);
        assertThat(exitCode).isEqualTo(2);
        assertThat(errors.toString()).contains(message);
    }
}
