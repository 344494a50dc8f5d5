package org.rowankv.check;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.rowankv.sim.SimCommand;

class SimCommandTest {
    @Test
    void shouldFindNothingInTwoHundredSeedsAndHaveSeenEverything() throws Exception {
        final CommandProcess process = CommandProcess.run(SimCommand.class, "--seeds", "200", "--from", "1");
        process.assertThatLastLine().isEqualTo("sim: seeds=200 violations=0");
        assertThat(process.exitCode()).isZero();
    }

    @Test
    void shouldGoTheSameWayTwice() throws Exception {
        final CommandProcess process =
                CommandProcess.run(SimCommand.class, "--seeds", "20", "--from", "1000", "--check-determinism");
        process.assertThatLastLine().isEqualTo("sim: seeds=20 violations=0");
        assertThat(process.exitCode()).isZero();
    }

    @Test
    void shouldFindAWriteThatIsAcknowledgedTooEarly() throws Exception {
        final CommandProcess process =
                CommandProcess.run(SimCommand.class, "--mutations", "--only", "before the last backup");
        process.assertThatLastLine().isEqualTo("sim: mutations=1 survivors=0");
        assertThat(process.exitCode()).isZero();
    }

    @Test
    void shouldFindAMutationThatIsAppliedTwice() throws Exception {
        final CommandProcess process =
                CommandProcess.run(SimCommand.class, "--mutations", "--only", "no duplicate check");
        process.assertThatLastLine().isEqualTo("sim: mutations=1 survivors=0");
        assertThat(process.exitCode()).isZero();
    }

    @Test
    void shouldRefuseNonsense() throws Exception {
        final CommandProcess process = CommandProcess.run(SimCommand.class, "--seeds", "0");
        assertThat(process.exitCode()).isEqualTo(2);
        assertThat(process.lines()).anyMatch(line -> line.contains("--seeds"));
    }
}
