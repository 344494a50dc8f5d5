package org.rowankv.check;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.daemon.CommandProcess;
import org.rowankv.runtime.TestScale;
import org.rowankv.sim.command.Form;
import org.rowankv.sim.command.SimCommand;

class SimCommandTest {
    @ParameterizedTest
    @CsvSource({"--embedded, 16", "--cluster, 6", "--fabric=landed, 1"})
    void shouldFindNothing(String form, int seeds) throws Exception {
        findNothing(form, seeds);
    }

    /** Enough seeds for the simulator to have done everything it can; otherwise the command fails. */
    @Test
    @Tag("long")
    void shouldFindNothingInTwoHundredSeedsAndHaveSeenEverything() throws Exception {
        findNothing("--embedded", 200);
    }

    private static void findNothing(String form, int seeds) throws Exception {
        final CommandProcess process =
                CommandProcess.run(SimCommand.class, form, "--seeds", Integer.toString(seeds), "--from", "1");
        process.assertThatLastLine().isEqualTo("sim: seeds=" + seeds + " violations=0");
        assertThat(process.exitCode()).isZero();
    }

    @ParameterizedTest
    @CsvSource({
        "--embedded, 2, 20, ''",
        "--cluster, 1, 4, ' kills=\\d+'",
        "--fabric=leased, 2, 40, ' kills=[1-9]\\d* fences=[1-9]\\d*'"
    })
    void shouldGoTheSameWayTwice(String form, int few, int many, String met) throws Exception {
        final int seeds = TestScale.of(few, many);
        final CommandProcess process = CommandProcess.run(
                SimCommand.class, form, "--seeds", Integer.toString(seeds), "--from", "1000", "--check-determinism");
        process.assertThatLastLine().isEqualTo("sim: seeds=" + seeds + " violations=0");
        assertThat(process.lines()).anyMatch(line -> line.matches("sim: --[a-z ]* seeds=" + seeds + met));
        assertThat(process.exitCode()).isZero();
    }

    /** Of a run without a form, and of one with. */
    @Test
    void shouldReplayASeedInTheFormThatItDraws() throws Exception {
        final long seed = LongStream.iterate(1, each -> each + 1)
                .filter(each -> Form.drawn(each) == Form.LEASED)
                .findFirst()
                .orElseThrow();
        final String own = Long.toString(seed);
        final CommandProcess drawn = CommandProcess.run(SimCommand.class, "--seed", own);
        final CommandProcess named = CommandProcess.run(SimCommand.class, "--fabric", "leased", "--seed", own);
        assertThat(drawn.lines().get(0)).startsWith("sim: ./rowan sim --fabric leased --seed " + own + ": ");
        assertThat(drawn.lines()).isEqualTo(named.lines());
    }

    @Test
    void shouldFindNothingAnyMoreInSeedsThatFoundSomething() throws Exception {
        final CommandProcess process = CommandProcess.run(SimCommand.class, "--found");
        process.assertThatLastLine().matches("sim: seeds=[1-9]\\d* violations=0");
        assertThat(process.exitCode()).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"--seeds=0", "--fabric=udp", "--embedded --fabric=leased", "--embedded --outages=1"})
    void shouldRefuseNonsense(String options) throws Exception {
        final CommandProcess process = CommandProcess.run(SimCommand.class, options.split(" "));
        assertThat(process.exitCode()).isEqualTo(2);
        assertThat(process.lines()).anyMatch(line -> line.contains(options.replaceAll("=.*|.* ", "")));
    }
}
