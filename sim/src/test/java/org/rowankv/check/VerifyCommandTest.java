package org.rowankv.check;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rowankv.daemon.CommandProcess;
import org.rowankv.runtime.TestScale;

@Tag("jvm")
class VerifyCommandTest {
    @Test
    void shouldExplainEveryAnswerOfThreeReplicas() throws Exception {
        final CommandProcess process =
                CommandProcess.run(VerifyCommand.class, "--seconds", Integer.toString(TestScale.of(3, 6)));
        process.assertThatLastLine().matches("verify: operations=[1-9][0-9]* anomalies=0");
        assertThat(process.exitCode()).isZero();
    }

    @Test
    void shouldExplainEveryAnswerOfFewKeysAndTwoReplicas() throws Exception {
        final CommandProcess process = CommandProcess.run(
                VerifyCommand.class,
                "--seconds",
                Integer.toString(TestScale.of(2, 3)),
                "--keys",
                "4",
                "--replicas",
                "2");
        process.assertThatLastLine().matches("verify: operations=[1-9][0-9]* anomalies=0");
        assertThat(process.exitCode()).isZero();
    }

    @Test
    void shouldRefuseNonsense() throws Exception {
        final CommandProcess process = CommandProcess.run(VerifyCommand.class, "--seconds", "soon");
        assertThat(process.exitCode()).isEqualTo(2);
        assertThat(process.lines()).anyMatch(line -> line.contains("--seconds"));
    }
}
