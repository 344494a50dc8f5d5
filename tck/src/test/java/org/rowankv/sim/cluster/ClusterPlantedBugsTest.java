package org.rowankv.sim.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import org.junit.jupiter.api.Test;
import org.rowankv.sim.MutationRun;
import org.rowankv.sim.PlantedBug;

class ClusterPlantedBugsTest {
    @Test
    void shouldPlantEveryBugInTheSourceAsItIs() throws IOException {
        for (PlantedBug bug : ClusterPlantedBugs.ALL) {
            final String source = Files.readString(MutationRun.sourceRoot().resolve(bug.sourcePath()));
            assertThat(bug.plantIn(source)).as(bug.name()).isNotEqualTo(source);
        }
    }
}
