package org.rowankv.check;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.rowankv.check.soak.SoakCommand;
import org.rowankv.daemon.CommandProcess;
import org.rowankv.runtime.TestScale;

class SoakCommandTest {
    @Test
    void shouldFindNothingInAStoreUnderEverythingAtOnce() throws Exception {
        final CommandProcess process = CommandProcess.run(
                SoakCommand.class,
                "--seconds",
                Integer.toString(TestScale.of(3, 6)),
                "--capacity",
                "8",
                "--times",
                "1");
        process.assertThatLastLine().isEqualTo("soak: violations=0");
        assertThat(process.exitCode()).isZero();
    }

    @Test
    void shouldFailARunThatWroteTooLittle() throws Exception {
        final CommandProcess process =
                CommandProcess.run(SoakCommand.class, "--seconds", "1", "--capacity", "8", "--times", "100000");
        assertThat(process.lines()).anyMatch(line -> line.contains("the capacity was written"));
        assertThat(process.exitCode()).isOne();
    }

    @Test
    void shouldRefuseNonsense() throws Exception {
        final CommandProcess process = CommandProcess.run(SoakCommand.class, "--utilisation", "100");
        assertThat(process.exitCode()).isEqualTo(2);
        assertThat(process.lines()).anyMatch(line -> line.contains("95"));
    }
}
