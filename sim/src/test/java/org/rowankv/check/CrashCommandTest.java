package org.rowankv.check;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.rowankv.daemon.CommandProcess;
import org.rowankv.runtime.TestScale;

class CrashCommandTest {
    @Test
    void shouldLoseNothingWithThreeReplicas() throws Exception {
        final int rounds = TestScale.of(4, 20);
        final CommandProcess process = CommandProcess.run(CrashCommand.class, "--rounds", Integer.toString(rounds));
        process.assertThatLastLine().matches("crash: rounds=" + rounds + " acked=[1-9][0-9]* lost=0 resurrected=0");
        assertThat(process.exitCode()).isZero();
    }

    @Test
    void shouldLoseNothingWithOneReplica() throws Exception {
        final int rounds = TestScale.of(2, 8);
        final CommandProcess process =
                CommandProcess.run(CrashCommand.class, "--rounds", Integer.toString(rounds), "--replicas", "1");
        process.assertThatLastLine().matches("crash: rounds=" + rounds + " acked=[1-9][0-9]* lost=0 resurrected=0");
        assertThat(process.exitCode()).isZero();
    }

    @Test
    void shouldLoseNothingWhenThePowerIsCut() throws Exception {
        for (String replicas : new String[] {"1", "3"}) {
            int runs = 0;
            do {
                assertThat(runs).as("runs in which the device had all words").isLessThan(5);
                runs++;
            } while (!losesUnforcedWords(replicas));
        }
    }

    /** Whether a cut dropped unforced words, which is not certain in a few rounds. */
    private static boolean losesUnforcedWords(String replicas) throws Exception {
        final int rounds = TestScale.of(3, 6);
        final CommandProcess process = CommandProcess.run(
                CrashCommand.class, "--rounds", Integer.toString(rounds), "--power", "--replicas", replicas);
        process.assertThatLastLine().matches("crash: rounds=" + rounds + " acked=[1-9][0-9]* lost=0 resurrected=0");
        assertThat(process.exitCode()).isZero();
        return Pattern.compile("words dropped=[1-9]")
                .matcher(String.join("\n", process.lines()))
                .find();
    }
}
