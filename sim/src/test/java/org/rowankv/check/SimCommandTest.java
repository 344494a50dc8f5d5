package org.rowankv.check;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rowankv.daemon.CommandProcess;
import org.rowankv.runtime.TestScale;
import org.rowankv.sim.SimCommand;

class SimCommandTest {
    @Test
    void shouldFindNothing() throws Exception {
        findNothing(16);
    }

    /** Enough seeds for the simulator to have done everything it can; otherwise the command fails. */
    @Test
    @Tag("long")
    void shouldFindNothingInTwoHundredSeedsAndHaveSeenEverything() throws Exception {
        findNothing(200);
    }

    private static void findNothing(int seeds) throws Exception {
        final CommandProcess process =
                CommandProcess.run(SimCommand.class, "--seeds", Integer.toString(seeds), "--from", "1");
        process.assertThatLastLine().isEqualTo("sim: seeds=" + seeds + " violations=0");
        assertThat(process.exitCode()).isZero();
    }

    @Test
    void shouldGoTheSameWayTwice() throws Exception {
        final int seeds = TestScale.of(2, 20);
        final CommandProcess process = CommandProcess.run(
                SimCommand.class, "--seeds", Integer.toString(seeds), "--from", "1000", "--check-determinism");
        process.assertThatLastLine().isEqualTo("sim: seeds=" + seeds + " violations=0");
        assertThat(process.exitCode()).isZero();
    }

    @Test
    void shouldFindNothingAnyMoreInSeedsThatFoundSomething() throws Exception {
        final CommandProcess process = CommandProcess.run(SimCommand.class, "--found");
        process.assertThatLastLine().matches("sim: seeds=[1-9]\\d* violations=0");
        assertThat(process.exitCode()).isZero();
    }

    @Test
    void shouldRefuseNonsense() throws Exception {
        final CommandProcess process = CommandProcess.run(SimCommand.class, "--seeds", "0");
        assertThat(process.exitCode()).isEqualTo(2);
        assertThat(process.lines()).anyMatch(line -> line.contains("--seeds"));
    }
}
