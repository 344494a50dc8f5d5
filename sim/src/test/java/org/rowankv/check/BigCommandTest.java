package org.rowankv.check;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.rowankv.daemon.CommandProcess;
import org.rowankv.runtime.TestScale;

class BigCommandTest {
    private static CommandProcess run(int rounds, String... more) throws Exception {
        final List<String> arguments = new ArrayList<>(List.of(
                "--rounds",
                Integer.toString(rounds),
                "--sizes",
                TestScale.of(1, 2) == 1 ? "300k,1500k" : "5m,64m",
                "--writers",
                "8",
                "--readers",
                "2",
                "--load-ms",
                "400"));
        arguments.addAll(List.of(more));
        return CommandProcess.run(BigCommand.class, arguments.toArray(new String[0]));
    }

    private static void requireWell(CommandProcess process) {
        process.assertThatLastLine()
                .matches("big: values=[1-9][0-9]* reads=[1-9][0-9]* refused=[0-9]+ lost=0 mixed=0 orphans=0");
        assertThat(process.exitCode()).isZero();
    }

    @Test
    void shouldHaveWholeValuesAfterKillsOfTheOnlyProcess() throws Exception {
        requireWell(run(TestScale.of(2, 8)));
    }

    @Test
    void shouldHaveWholeValuesAfterKillsOfServersAndClients() throws Exception {
        requireWell(run(TestScale.of(1, 4), "--cluster"));
    }
}
