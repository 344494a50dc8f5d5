package org.rowankv.check;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.rowankv.daemon.CommandProcess;

class ClusterQuickstartCommandTest {
    @Test
    void shouldFindEverythingAgainInServerProcesses() throws Exception {
        final CommandProcess process =
                CommandProcess.run(ClusterQuickstartCommand.class, "--cluster", "--objects", "300");
        process.assertThatLastLine()
                .isEqualTo("quickstart: objects=300 verified=300 reopened=300 mismatches=0 replicas_agree=true");
        assertThat(process.exitCode()).isZero();
    }

    @Test
    void shouldLoseNothingWithTheManager() throws Exception {
        final CommandProcess process = CommandProcess.run(
                ClusterQuickstartCommand.class, "--cluster", "--objects", "300", "--lose", "manager");
        process.assertThatLastLine()
                .isEqualTo("quickstart: objects=300 verified=300 reopened=300 mismatches=0 replicas_agree=true");
        assertThat(process.exitCode()).isZero();
        assertThat(process.lines()).anyMatch(line -> line.contains("the manager, was killed, and does not return"));
    }
}
