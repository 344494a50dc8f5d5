package org.rowankv.sim.plant;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rowankv.runtime.SystemClock;
import org.rowankv.sim.plant.Catcher.ByTest;

@Timeout(300)
class MutationRunTest {
    private static final String VERSION = "protocol/src/main/java/org/rowankv/protocol/Version.java";

    private final ByteArrayOutputStream printed = new ByteArrayOutputStream();

    @Test
    void shouldTellWhatIsCaughtFromWhatIsNot() {
        final boolean all = run(
                bug("caught", "return version + 2;", 60, true),
                bug("harmless", "return 1 + version;", 60, true),
                bug("misfit", "return nonsense();", 60, false));
        assertThat(all).isFalse();
        assertThat(lines())
                .anyMatch(line -> line.contains("caught: caught by protocol:"))
                .anyMatch(line -> line.contains("harmless: NOT CAUGHT by protocol:") && line.endsWith("green"))
                .anyMatch(line -> line.contains("misfit: NOT CAUGHT by") && line.contains("does not compile"))
                .anyMatch(line -> line.startsWith("sim: not caught: harmless"))
                .anyMatch(line -> line.startsWith("sim: not caught: misfit"))
                .last()
                .isEqualTo("sim: mutations=3 survived_at_first=2 survivors=2");
    }

    /** The test has no timeout of its own: a build would not end. */
    @Test
    void shouldNotCountATestThatStandsStill() {
        assertThat(run(bug("standing still", "while (version != 0) {} return 0;", 4, false)))
                .isFalse();
        assertThat(lines())
                .anyMatch(line -> line.contains("did not end within its bound"))
                .last()
                .isEqualTo("sim: mutations=1 survived_at_first=0 survivors=1");
    }

    private static PlantedBug bug(String name, String wrong, int atMost, boolean survivedAtFirst) {
        return new PlantedBug(
                name,
                VERSION,
                "",
                "return version + 1;",
                wrong,
                new ByTest("protocol", "org.rowankv.protocol.VersionTest", "shouldStepWithinAnEpoch", 1, atMost),
                survivedAtFirst);
    }

    private boolean run(PlantedBug... bugs) {
        return new MutationRun(
                        List.of(bugs),
                        SourceTree.here(),
                        1,
                        SystemClock.INSTANCE,
                        new PrintStream(printed, true, StandardCharsets.UTF_8))
                .run();
    }

    private List<String> lines() {
        return printed.toString(StandardCharsets.UTF_8).lines().toList();
    }
}
