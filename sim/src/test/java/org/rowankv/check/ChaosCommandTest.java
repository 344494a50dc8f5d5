package org.rowankv.check;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rowankv.check.chaos.ChaosFault;
import org.rowankv.daemon.CommandProcess;
import org.rowankv.runtime.TestScale;

class ChaosCommandTest {
    @TempDir
    Path dir;

    @Test
    void shouldSurviveTheLossOfServers() throws Exception {
        final Path csv = dir.resolve("outages.csv");
        final CommandProcess process = CommandProcess.run(
                ChaosCommand.class,
                "--rounds",
                Integer.toString(TestScale.of(2, 8)),
                "--threads",
                "2",
                "--faults",
                "kill,partition",
                "--csv",
                csv.toString());
        process.assertThatLastLine()
                .matches(
                        "chaos: faults=[28] kill=[14] partition=[14] operations=[1-9][0-9]* lost=0 doubled=0 stale=0"
                                + " unexplained=0 app_exceptions=0 events=[1-9][0-9]* events_lost=[0-9]+ failed_while_down=0 survived=[28]");
        assertThat(process.exitCode()).isZero();
        assertThat(process.lines()).anyMatch(line -> line.matches("chaos: seed [0-9]+"));
        assertThat(Files.readAllLines(csv)).hasSizeGreaterThan(20);
    }

    @Test
    void shouldRefuseANumberOfNoFaults() {
        final StringWriter errors = new StringWriter();
        final int exitCode =
                ChaosCommand.line().setErr(new PrintWriter(errors)).execute("--faults", "none", "--rounds", "2");
        assertThat(exitCode).isEqualTo(2);
        assertThat(errors.toString()).contains("--rounds counts faults");
    }

    @Test
    @Tag("long")
    void shouldSayInACalmTimeWhatWasLeftOfLeases() throws Exception {
        final CommandProcess process = CommandProcess.run(
                ChaosCommand.class, "--minutes", "1", "--threads", "2", "--faults", "none", "--lease", "4000");
        process.assertThatLastLine()
                .matches("chaos: faults=0 operations=[1-9][0-9]* lost=0 .* survived=0 exclusions=0 renewals=[1-9][0-9]*"
                        + " lease_margin_ms p50=[0-9]+ p1=[0-9]+ p0.1=[0-9]+");
        assertThat(process.exitCode()).isZero();
    }

    @Test
    void shouldNameEveryFaultInItsHelp() {
        assertThat(ChaosCommand.ALL).isEqualTo(ChaosFault.optionNames());
    }

    @ParameterizedTest
    @CsvSource({
        "--servers, 4, --servers is 4",
        "--servers, 1, --servers is 1",
        "--lease, 5, --lease is 5",
        "--threads, 0, --threads is 0",
        "--rounds, 0, --rounds is 0",
        "--minutes, 0, --minutes is 0",
        "--faults, kill;pause, is no fault; known are: control",
        "--server-java, /there/is/no/java, --server-java",
    })
    @Timeout(value = 120, unit = TimeUnit.SECONDS)
    void shouldSayWhatIsWrongWithAnOption(String option, String value, String message) {
        final StringWriter errors = new StringWriter();
        final int exitCode = ChaosCommand.line().setErr(new PrintWriter(errors)).execute(option, value);
        assertThat(exitCode).isEqualTo(2);
        assertThat(errors.toString()).contains(message).hasLineCount(1);
    }
}
