package org.rowankv.sim.plant;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.SystemClock;
import org.rowankv.sim.command.Form;
import org.rowankv.sim.plant.Catcher.BySim;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code rowan sim --mutations}: plants known bugs, and checks whether they are caught. */
@Command(
        name = "sim --mutations",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Plants known bugs, one at a time, by recompiling one class. Only the catcher of each bug is run:"
                    + " seeds of a form of the simulator, or a test class.",
            "The last line is \"sim: mutations=N survived_at_first=N survivors=0\"; survivors make the exit code non-zero."
                    + " survived_at_first counts the bugs that nothing caught when they were first planted."
        })
public final class MutationsCommand implements Callable<Integer> {
    @SuppressWarnings("UnusedVariable")
    @Option(names = "--mutations", hidden = true)
    private boolean mutations;

    @Option(names = "--only", description = "the bugs whose names contain this")
    private String only = "";

    @Option(
            names = "--by",
            description = "the bugs whose catcher contains this: \"sim\", \"server:\", the name of a test class")
    private String by = "";

    @Option(names = "--cluster", description = "the bugs that \"sim --cluster\" must catch")
    private boolean cluster;

    @Option(names = "--handful", description = "four quick ones, chosen by the commit")
    private boolean handful;

    @Option(
            names = "--table",
            description =
                    "the bugs of this table (\"jdbc\", \"spring\"), or of a file in the form of the tables, instead of"
                            + " the catalogue's")
    private @Nullable Path table;

    @Option(names = "--at-most", description = "seeds or seconds, instead of the bound that each bug names")
    private @Nullable Integer atMost;

    @Option(
            names = "--check",
            description = "only check whether they can be planted: they fit, compile and change a class")
    private boolean check;

    @Option(names = "--threads", description = "bugs tested in parallel (default: one per processor)")
    private @Nullable Integer threads;

    public static void main(String[] args) {
        System.exit(new CommandLine(new MutationsCommand()).execute(args));
    }

    @Override
    public Integer call() {
        final SourceTree tree = SourceTree.here();
        final List<PlantedBug> chosen = bugs().stream().filter(this::isSelected).toList();
        if (check) {
            final List<String> mistakes = BugCheck.mistakes(chosen, tree);
            mistakes.forEach(System.out::println);
            System.out.println("sim: mutations=" + chosen.size() + " misfits=" + mistakes.size());
            return mistakes.isEmpty() ? 0 : 1;
        }
        final List<PlantedBug> found = handful ? handfulOf(chosen, tree) : chosen;
        final Integer bound = atMost;
        final List<PlantedBug> bugs = bound == null
                ? found
                : found.stream().map(bug -> bug.within(bound)).toList();
        if (bugs.isEmpty()) {
            throw new CommandLine.ParameterException(new CommandLine(this), "there is no such planted bug");
        }
        final int atOnce = threads == null ? Runtime.getRuntime().availableProcessors() : Math.max(1, threads);
        return new MutationRun(bugs, tree, atOnce, SystemClock.INSTANCE, System.out).run() ? 0 : 1;
    }

    private List<PlantedBug> bugs() {
        final Path file = table;
        if (file == null) {
            return PlantedBugs.all();
        }
        final String subject = file + ".txt";
        if (PlantedBugs.SUBJECTS.contains(subject) || PlantedBugs.APART.contains(subject)) {
            return PlantedBugs.of(subject);
        }
        try {
            return BugTable.parse(file.toString(), Files.readString(file));
        } catch (IOException | IllegalArgumentException e) {
            throw new CommandLine.ParameterException(
                    new CommandLine(this), "the table " + file + " cannot be read: " + e.getMessage(), e);
        }
    }

    private static List<PlantedBug> handfulOf(List<PlantedBug> all, SourceTree tree) {
        final String commit = Handful.commit(tree);
        System.out.println("sim: a handful of " + all.size() + " planted bugs, chosen by commit " + commit);
        return Handful.of(all, commit);
    }

    private boolean isSelected(PlantedBug bug) {
        return bug.name().contains(only)
                && bug.catcher().toString().contains(by)
                && (!cluster || bug.catcher() instanceof BySim sim && sim.form() != Form.EMBEDDED);
    }
}
