package org.rowankv.sim.plant;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.rowankv.sim.command.Form;
import org.rowankv.sim.plant.Catcher.BySim;
import org.rowankv.sim.plant.Catcher.ByTest;

class BugTableTest {
    private static final String ONE = """
            # A table.

            bug: the end is not reached
            in: server/src/main/java/org/rowankv/server/Some.java
            harm: Readers wait for ever.
            caught by: sim --cluster, took 3 seeds, at most 40
            at first: survived
            right:
                if (at <= end) {
                    go();

                }
            wrong:
                if (at < end) {
                }
            """;

    private static final String OTHER = """
            bug: another
            in: jcache-provider/src/main/java/org/rowankv/jcache/Other.java
            caught by: jcache-provider:org.rowankv.jcache.OtherTest#shouldWork, took 2 s, at most 60
            at first: caught
            right:
                go();
            wrong:
            """;

    @Test
    void shouldReadWhatStandsInATable() {
        final List<PlantedBug> bugs = BugTable.parse("some.txt", ONE + "\n" + OTHER);
        assertThat(bugs)
                .containsExactly(
                        new PlantedBug(
                                "the end is not reached",
                                "server/src/main/java/org/rowankv/server/Some.java",
                                "Readers wait for ever.",
                                "if (at <= end) {\n    go();\n\n}",
                                "if (at < end) {\n}",
                                new BySim(Form.CLUSTER, 3, 40),
                                true),
                        new PlantedBug(
                                "another",
                                "jcache-provider/src/main/java/org/rowankv/jcache/Other.java",
                                "",
                                "go();",
                                "",
                                new ByTest("jcache-provider", "org.rowankv.jcache.OtherTest", "shouldWork", 2, 60),
                                false));
        assertThat(bugs.get(0).type()).isEqualTo("org.rowankv.server.Some");
        assertThat(bugs.get(1).type()).isEqualTo("org.rowankv.jcache.Other");
    }

    @Test
    void shouldPlantWhateverWhiteSpaceStandsBetweenTheWords() {
        final PlantedBug bug = BugTable.parse("some.txt", ONE).get(0);
        assertThat(bug.plantIn("{ if (at\n   <= end) {  go(); } }")).isEqualTo("{ if (at < end) {\n} }");
    }

    @Test
    void shouldRefuseATextThatIsNotThereOnce() {
        final PlantedBug bug = BugTable.parse("some.txt", OTHER).get(0);
        assertThatThrownBy(() -> bug.plantIn("go ();")).hasMessageContaining("is not there");
        assertThatThrownBy(() -> bug.plantIn("go(); go();")).hasMessageContaining("more than once");
    }

    @Test
    void shouldNameTheLineOfAMistake() {
        assertRefused(ONE.replace("harm:", "harms:"), "some.txt, line 5: 'harms'");
        assertRefused(ONE.replace("harm: ", "in: "), "some.txt, line 5: 'in:' a second time");
        assertRefused(ONE.replace("right:\n", "right: go();\n"), "some.txt, line 8: code stands in the lines below");
    }

    @Test
    void shouldRefuseABugThatLacksSomething() {
        assertRefused(ONE.replace("at first: survived\n", ""), "'the end is not reached' has no 'at first:'");
        assertRefused(ONE.replace("survived", "perhaps"), "'caught' or 'survived', not 'perhaps'");
        assertRefused(ONE.substring(0, ONE.indexOf("right:")), "'the end is not reached' has no 'right:'");
        assertRefused(ONE.replace("src/main/java", "src"), "is not below MODULE/src/main/java/");
    }

    @Test
    void shouldRefuseACatcherThatIsNone() {
        assertRefused(ONE.replace("seeds", "turns"), "is none of");
        assertRefused(ONE.replace("took 3", "took 41"), "not more than it may take");
        assertRefused(ONE.replace("took 3", "took 0"), "it took 1 or more");
        assertRefused(OTHER.replace("OtherTest", "Other"), "is none of");
    }

    private static void assertRefused(String table, String message) {
        assertThatThrownBy(() -> BugTable.parse("some.txt", table)).hasMessageContaining(message);
    }
}
