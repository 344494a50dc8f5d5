package org.rowankv.check;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rowankv.daemon.CommandProcess;
import org.rowankv.runtime.TestScale;

@Tag("jvm")
class ClusterVerifyCommandTest {
    /** In a build, only those whose effect is short. */
    private static final List<String> DISTURBANCES =
            List.of("kills,stops,swaps,cuts", "kills,stops,zookeeper-stops,zookeeper-kills,swaps,cuts");

    private static final List<String> COUNTS = List.of(
            "kills=[1-9][0-9]* stops=[1-9][0-9]* zookeeper_stops=0 zookeeper_kills=0 swaps=[1-9][0-9]* cuts=[1-9][0-9]*",
            "kills=[1-9][0-9]* stops=[1-9][0-9]* zookeeper_stops=[1-9][0-9]* zookeeper_kills=[1-9][0-9]*"
                    + " swaps=[1-9][0-9]* cuts=[1-9][0-9]*");

    /** The run continues until every disturbance has happened, however fast the machine is. */
    @Test
    void shouldExplainEveryAnswerOfDisturbedServerProcesses() throws Exception {
        final CommandProcess process = CommandProcess.run(
                ClusterVerifyCommand.class,
                "--cluster",
                "--seconds",
                Integer.toString(TestScale.of(3, 60)),
                "--threads",
                "4",
                "--jvms",
                Integer.toString(TestScale.of(1, 2)),
                "--longest-stop",
                Integer.toString(TestScale.of(1, 20)),
                "--disturbances",
                DISTURBANCES.get(TestScale.of(0, 1)));
        process.assertThatLastLine()
                .matches("verify: operations=[1-9][0-9]* reconnects=[1-9][0-9]* stale_terms=[1-9][0-9]*"
                        + " retries_joined=[1-9][0-9]* " + COUNTS.get(TestScale.of(0, 1))
                        + " refused=[0-9]+ unknown=[0-9]+ anomalies=0 app_exceptions=0");
        assertThat(process.exitCode()).isZero();
        assertThat(process.lines()).anyMatch(line -> line.matches("verify: seed [0-9]+"));
    }

    /** Runs the command in this process, for calls that fail before they start anything. */
    private record Call(int exitCode, String errors) {
        static Call of(String... arguments) {
            final StringWriter errors = new StringWriter();
            final int exitCode =
                    ClusterVerifyCommand.line().setErr(new PrintWriter(errors)).execute(arguments);
            return new Call(exitCode, errors.toString());
        }
    }

    @ParameterizedTest
    @CsvSource({
        "--server-java, /there/is/no/java, --server-java",
        "--seconds, 0, the time",
        "--minutes, 0, --minutes is 0",
        "--minutes, 99999999, --minutes is 99999999",
        "--threads, 1, '--jvms is 2, and has to be at most --threads'",
        "--keys, 0, --keys is 0",
        "--longest-stop, 0, --longest-stop is 0",
        "--disturbances, kills;stops, is no disturbance; known are: kills",
        "--seed, x, --seed",
    })
    @Timeout(value = 120, unit = TimeUnit.SECONDS)
    void shouldSayWhatIsWrongWithAnOption(String option, String value, String message) {
        final Call call = Call.of("--cluster", option, value);
        assertThat(call.exitCode()).isEqualTo(2);
        assertThat(call.errors()).contains(message).hasLineCount(1);
    }

    @Test
    @Timeout(value = 120, unit = TimeUnit.SECONDS)
    void shouldNotTakeTwoLengths() {
        final Call call = Call.of("--cluster", "--minutes", "1", "--seconds", "1");
        assertThat(call.exitCode()).isEqualTo(2);
        assertThat(call.errors()).contains("--minutes or --seconds, not both");
    }
}
