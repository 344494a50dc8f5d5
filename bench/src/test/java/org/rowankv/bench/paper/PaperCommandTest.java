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
        assertThat(run("--quick", "--figure", "h", "--commit", "0123abcd", "--out", directory.toString()))
                .isEqualTo(1);

        assertThat(out.toString().strip().lines().reduce("", (earlier, line) -> line))
                .isEqualTo("paper: figures=1 bars=6 missed=1 known=0");
        assertThat(Files.readString(directory.resolve("report.md")))
                .contains("|MISSED|")
                .contains("commit 0123abcd")
                .contains("INPUT");
        assertThat(Files.readString(directory.resolve("hints.csv")))
                .startsWith("tier,seed,git,layout,")
                .contains("\nmodel,1,0123abcd,paper,");
        assertThat(Files.readString(directory.resolve("hints.svg"))).contains("commit 0123abcd");
        assertThat(Files.readString(directory.resolve("parameters.properties")))
                .startsWith("# commit 0123abcd")
                .contains("calibrated")
                .contains("zippydb.mean-bytes=90.80");
        assertThat(out.toString()).contains("commit 0123abcd");
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
