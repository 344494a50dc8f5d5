package org.rowankv.samples.quickstart;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.samples.CommandRun;

/** The quickstart on a part of its data. */
@Tag("jvm")
class QuickstartTest {
    @TempDir
    Path directory;

    private CommandRun run(String... arguments) throws Exception {
        return CommandRun.of(Quickstart.class, arguments);
    }

    @Test
    void shouldFindEverythingAgainInANewProcess() throws Exception {
        final CommandRun run = run("--objects", "600", "--dir", directory.toString());
        assertThat(run.lastLine())
                .isEqualTo("quickstart: objects=600 verified=600 reopened=600 mismatches=0 replicas_agree=true");
        assertThat(run.exitCode()).isZero();
    }

    @Test
    void shouldStartOverInADirectoryOfAnEarlierRun() throws Exception {
        run("--objects", "60", "--dir", directory.toString());
        final CommandRun run = run("--objects", "60", "--dir", directory.toString());
        assertThat(run.lastLine())
                .isEqualTo("quickstart: objects=60 verified=60 reopened=60 mismatches=0 replicas_agree=true");
        assertThat(run.exitCode()).isZero();
    }
}
