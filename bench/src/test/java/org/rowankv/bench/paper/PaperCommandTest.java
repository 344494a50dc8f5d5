package org.rowankv.bench.paper;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

final class PaperCommandTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @TempDir
    private Path directory;

    private int run(String... arguments) {
        return new CommandLine(new PaperCommand())
                .setOut(new PrintWriter(out))
                .setErr(new PrintWriter(err))
                .execute(arguments);
    }

    @Test
    void shouldEndWithTheCountsAndFailOnAMissedBar() throws IOException {
        assertThat(run("--quick", "--figure", "h", "--out", directory.toString()))
                .isEqualTo(1);

        assertThat(out.toString().strip().lines().reduce("", (earlier, line) -> line))
                .isEqualTo("paper: figures=1 bars=6 missed=1 known=0");
        assertThat(Files.readString(directory.resolve("report.md")))
                .contains("|MISSED|")
                .contains("INPUT");
        assertThat(Files.readString(directory.resolve("hints.csv")))
                .startsWith("tier,seed,git,layout,")
                .contains("\nmodel,1,");
        assertThat(Files.readString(directory.resolve("parameters.properties"))).contains("calibrated");
    }

    @Test
    void shouldSucceedWhenNoBarIsMissed() {
        assertThat(run("--quick", "--figure", "2", "--layout", "ours", "--out", directory.toString()))
                .isZero();
        assertThat(err.toString()).contains("runs, figure 2");
    }

    @Test
    void shouldRefuseAFigureThatThePaperDoesNotHave() {
        assertThat(run("--figure", "12")).isEqualTo(CommandLine.ExitCode.USAGE);
        assertThat(err.toString()).contains("figures are 2, 8, 9");
    }
}
