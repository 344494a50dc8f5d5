package org.rowankv.check;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.rowankv.daemon.CommandProcess;
import org.rowankv.runtime.TestScale;
import org.rowankv.sim.cluster.ClusterSimCommand;

class ClusterSimCommandTest {
    @Test
    void shouldFindNothing() throws Exception {
        final int seeds = TestScale.of(6, 40);
        final CommandProcess process =
                CommandProcess.run(ClusterSimCommand.class, "--seeds", Integer.toString(seeds), "--from", "1");
        process.assertThatLastLine().isEqualTo("sim: seeds=" + seeds + " violations=0");
        assertThat(process.exitCode()).isZero();
    }

    @Test
    void shouldGoTheSameWayTwice() throws Exception {
        final int seeds = TestScale.of(1, 4);
        final CommandProcess process = CommandProcess.run(
                ClusterSimCommand.class, "--seeds", Integer.toString(seeds), "--from", "1000", "--check-determinism");
        process.assertThatLastLine().isEqualTo("sim: seeds=" + seeds + " violations=0");
        assertThat(process.exitCode()).isZero();
    }

    /** Each seed twice: simulated devices go the same way, too. */
    @Test
    void shouldFindNothingWhereSendersWriteIntoLeasedSegments() throws Exception {
        final int seeds = TestScale.of(2, 40);
        final CommandProcess process = CommandProcess.run(
                ClusterSimCommand.class,
                "--fabric",
                "leased",
                "--seeds",
                Integer.toString(seeds),
                "--from",
                "1",
                "--check-determinism");
        process.assertThatLastLine().isEqualTo("sim: seeds=" + seeds + " violations=0");
        assertThat(process.lines()).anyMatch(line -> line.matches("sim: kills=[1-9]\\d* fences=[1-9]\\d*"));
        assertThat(process.exitCode()).isZero();
    }

    @Test
    void shouldFindNothingAnyMoreInSeedsThatFoundSomething() throws Exception {
        final CommandProcess process = CommandProcess.run(ClusterSimCommand.class, "--found");
        process.assertThatLastLine().matches("sim: seeds=[1-9]\\d* violations=0");
        assertThat(process.exitCode()).isZero();
    }

    @Test
    void shouldRefuseNonsense() throws Exception {
        final CommandProcess process = CommandProcess.run(ClusterSimCommand.class, "--seeds", "0");
        assertThat(process.exitCode()).isEqualTo(2);
        assertThat(process.lines()).anyMatch(line -> line.contains("--seeds"));
    }
}
