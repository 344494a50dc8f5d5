package org.rowankv.sim.plant;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.rowankv.sim.command.Form;
import org.rowankv.sim.plant.Catcher.BySim;
import org.rowankv.sim.plant.Catcher.ByTest;

/** Every planted bug fits the sources: a stale one would wrongly count as caught. */
class PlantedBugsTest {
    private static final int LONGEST_TABLE = 500;
    private static final String VERSION = "protocol/src/main/java/org/rowankv/protocol/Version.java";

    private static final String WAITING = "sim/src/test/resources/org/rowankv/sim/plant/waiting.txt";

    private static final SourceTree TREE = SourceTree.here();
    private static final Path TABLES = TREE.root().resolve("sim/src/main/resources/org/rowankv/sim/plant");

    @Test
    void shouldPlantCompileAndChangeSomethingWithEveryBug() {
        assertThat(PlantedBugs.all()).hasSizeGreaterThan(60);
        assertThat(BugCheck.mistakes(PlantedBugs.all(), TREE)).isEmpty();
    }

    /**
     * A bug without a catcher lists what has failed to catch it. It must fit like the others, and be in one table only.
     */
    @Test
    void shouldPlantCompileAndChangeSomethingWithEveryBugThatWaits() {
        final String text = TREE.read(WAITING);
        final List<PlantedBug> waiting = BugTable.parse(
                WAITING,
                text.replaceAll(
                        "(?m)^tried: .+$", "caught by: sim --embedded, took 1 seeds, at most 1\nat first: survived"));
        assertThat(waiting).as("bugs of " + WAITING).hasSize((int)
                Pattern.compile("(?m)^bug: ").matcher(text).results().count());
        assertThat(BugCheck.mistakes(waiting, TREE)).isEmpty();
        assertThat(waiting)
                .extracting(PlantedBug::name)
                .doesNotContainAnyElementsOf(
                        PlantedBugs.all().stream().map(PlantedBug::name).toList());
    }

    @Test
    void shouldSayWhichBugsCannotBePlanted() {
        final List<PlantedBug> bugs = List.of(
                bug("gone", "text that is in no source", ""),
                bug("twice", "public static", "public"),
                bug("nonsense", "private Version() {}", "private Version() { nonsense(); }"),
                bug("harmless", "private Version() {}", "private Version() { /* nothing */ }"),
                bug("sound", "private Version() {}", "private Version() { throw new IllegalStateException(); }"));
        final List<String> mistakes = BugCheck.mistakes(bugs, TREE);
        assertThat(mistakes).hasSize(4);
        assertThat(mistakes.get(0)).contains("'gone'", "does not fit", "is not there");
        assertThat(mistakes.get(1)).contains("'twice'", "does not fit", "more than once");
        assertThat(mistakes.get(2)).contains("'nonsense'", "does not compile", "nonsense()");
        assertThat(mistakes.get(3)).contains("'harmless'", "changes no class");
    }

    private static PlantedBug bug(String name, String right, String wrong) {
        return new PlantedBug(name, VERSION, "", right, wrong, new BySim(Form.EMBEDDED, 1, 1), false);
    }

    /** A method may be inherited from the tests of all fabrics, or of all sessions. */
    @Test
    void shouldNameTestsThatExist() throws IOException {
        final String shared = sharedTests();
        for (PlantedBug bug : allTables()) {
            if (bug.catcher() instanceof ByTest test) {
                assertThat(TREE.root().resolve(TREE.sourceOf(test)))
                        .as(bug.name())
                        .exists();
                assertThat(TREE.read(TREE.sourceOf(test)) + shared)
                        .as(bug.name())
                        .containsPattern(
                                test.method().isEmpty() ? "class " : "\\bvoid " + Pattern.quote(test.method()) + "\\(");
            }
        }
    }

    private static String sharedTests() throws IOException {
        final StringBuilder all = new StringBuilder();
        for (String module : List.of("rdma", "driver")) {
            try (Stream<Path> sources = Files.walk(TREE.root().resolve(module).resolve("src/test/java"))) {
                for (Path source : sources.filter(file -> file.toString().endsWith("Conformance.java"))
                        .toList()) {
                    all.append(Files.readString(source));
                }
            }
        }
        return all.toString();
    }

    /** A table that is not listed would contain bugs that are never planted. */
    @Test
    void shouldPlantTheBugsOfEveryTable() throws IOException {
        try (Stream<Path> tables = Files.list(TABLES)) {
            assertThat(tables.map(table -> table.getFileName().toString()))
                    .containsExactlyInAnyOrderElementsOf(
                            Stream.concat(PlantedBugs.SUBJECTS.stream(), PlantedBugs.APART.stream())
                                    .toList());
        }
    }

    private static List<PlantedBug> allTables() {
        final List<PlantedBug> all = new ArrayList<>(PlantedBugs.all());
        PlantedBugs.APART.forEach(table -> all.addAll(PlantedBugs.of(table)));
        return all;
    }

    /** Their classes are not on this class path; the command with the table's name compiles them. */
    @Test
    void shouldFitTheSourcesOfOtherModules() {
        for (PlantedBug bug : allTables()) {
            assertThat(TREE.sourceWith(bug)).as(bug.name()).isNotEqualTo(TREE.read(bug.path()));
        }
        assertThat(allTables()).extracting(PlantedBug::name).doesNotHaveDuplicates();
    }

    @Test
    void shouldKeepTablesShort() throws IOException {
        try (Stream<Path> tables = Files.list(TABLES)) {
            assertThat(tables.filter(table -> lines(table) > LONGEST_TABLE)).isEmpty();
        }
    }

    private static int lines(Path table) {
        try {
            return Files.readAllLines(table).size();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
