package org.rowankv.check;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rowankv.daemon.CommandProcess;
import org.rowankv.sim.plant.MutationsCommand;
import org.rowankv.sim.plant.PlantedBugs;

class MutationsCommandTest {
    /** A different sample after each commit: two caught by the simulators, two by tests. The output lists them. */
    @Test
    @Timeout(value = 30, unit = TimeUnit.MINUTES)
    void shouldCatchAHandful() throws Exception {
        final CommandProcess process = CommandProcess.run(MutationsCommand.class, "--handful", "--threads", "1");
        process.lines().forEach(System.out::println);
        process.assertThatLastLine().matches("sim: mutations=4 survived_at_first=\\d survivors=0");
        assertThat(process.exitCode()).isZero();
    }

    /** Takes an hour or more. */
    @Test
    @Tag("long")
    @Timeout(value = 6, unit = TimeUnit.HOURS)
    void shouldCatchEveryPlantedBug() throws Exception {
        final CommandProcess process = CommandProcess.run(MutationsCommand.class);
        process.lines().forEach(System.out::println);
        process.assertThatLastLine()
                .matches("sim: mutations=" + PlantedBugs.all().size() + " survived_at_first=\\d+ survivors=0");
        assertThat(process.exitCode()).isZero();
    }

    @Test
    void shouldRefuseNonsense() throws Exception {
        final CommandProcess process = CommandProcess.run(MutationsCommand.class, "--only", "never planted");
        assertThat(process.exitCode()).isEqualTo(2);
        assertThat(process.lines()).anyMatch(line -> line.contains("there is no such planted bug"));
    }
}
