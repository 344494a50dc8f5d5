package org.rowankv.sim.plant;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.rowankv.sim.plant.Catcher.BySim;

class HandfulTest {
    private static final List<PlantedBug> ALL = PlantedBugs.all();

    @Test
    void shouldChooseTwoForSimAndTwoForTests() {
        final List<PlantedBug> handful = Handful.of(ALL, "0123abcd");
        assertThat(handful).hasSize(4).doesNotHaveDuplicates();
        assertThat(handful.stream().filter(bug -> bug.catcher() instanceof BySim))
                .hasSize(2);
    }

    @Test
    void shouldChooseTheSameForTheSameCommit() {
        assertThat(Handful.of(ALL, "0123abcd")).isEqualTo(Handful.of(ALL, "0123abcd"));
    }

    @Test
    void shouldChooseOthersAfterEachCommit() {
        final Set<PlantedBug> seen = new HashSet<>();
        for (int commit = 0; commit < 50; commit++) {
            seen.addAll(Handful.of(ALL, "commit " + commit));
        }
        assertThat(seen).hasSizeGreaterThan(15);
    }
}
