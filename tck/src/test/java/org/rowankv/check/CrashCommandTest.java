package org.rowankv.check;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class CrashCommandTest {
    @Test
    void shouldLoseNothingInTwentyRounds() throws Exception {
        final CommandProcess process = CommandProcess.run(CrashCommand.class, "--rounds", "20");
        process.assertThatLastLine().matches("crash: rounds=20 acked=[1-9][0-9]* lost=0 resurrected=0");
        assertThat(process.exitCode()).isZero();
    }

    @Test
    void shouldLoseNothingWithOneReplica() throws Exception {
        final CommandProcess process = CommandProcess.run(CrashCommand.class, "--rounds", "4", "--replicas", "1");
        process.assertThatLastLine().matches("crash: rounds=4 acked=[1-9][0-9]* lost=0 resurrected=0");
        assertThat(process.exitCode()).isZero();
    }

    @Test
    void shouldLoseNothingWhenThePowerIsCut() throws Exception {
        for (String replicas : new String[] {"1", "3"}) {
            final CommandProcess process =
                    CommandProcess.run(CrashCommand.class, "--rounds", "6", "--power", "--replicas", replicas);
            assertThat(String.join("\n", process.lines())).containsPattern("words dropped=[1-9]");
            process.assertThatLastLine().matches("crash: rounds=6 acked=[1-9][0-9]* lost=0 resurrected=0");
            assertThat(process.exitCode()).isZero();
        }
    }
}
