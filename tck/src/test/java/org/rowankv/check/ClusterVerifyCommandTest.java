package org.rowankv.check;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rowankv.runtime.TestScale;

@Tag("jvm")
class ClusterVerifyCommandTest {
    /** It goes on until every disturbance has happened, however fast the machine is. */
    @Test
    void shouldExplainEveryAnswerOfServerProcesses() throws Exception {
        final CommandProcess process = CommandProcess.run(
                ClusterVerifyCommand.class,
                "--cluster",
                "--seconds",
                Integer.toString(TestScale.of(4, 8)),
                "--threads",
                "4");
        process.assertThatLastLine()
                .matches("verify: operations=[1-9][0-9]* reconnects=[1-9][0-9]* stale_terms=[1-9][0-9]*"
                        + " retries_joined=[1-9][0-9]* anomalies=0 app_exceptions=0");
        assertThat(process.exitCode()).isZero();
    }

    @Test
    void shouldRefuseAJavaThatIsNone() throws Exception {
        final CommandProcess process =
                CommandProcess.run(ClusterVerifyCommand.class, "--cluster", "--server-java", "/there/is/no/java");
        assertThat(process.exitCode()).isEqualTo(2);
        assertThat(process.lines()).anyMatch(line -> line.contains("--server-java"));
    }
}
