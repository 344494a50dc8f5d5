package org.rowankv.sim.plant;

import java.io.File;
import java.nio.file.Path;
import java.util.List;
import org.rowankv.sim.plant.Catcher.BySim;

/** Search for a planted bug with a simulator. */
final class SimHunt {
    private static final long FIRST_SEED = 1;
    /** From this many seeds on, the JVM's second compiler pays off. */
    private static final int MANY_SEEDS = 100;
    /** A seed takes less than a second; but a machine may be busy. */
    private static final int MOST_SECONDS_A_SEED = 600;

    private final SourceTree tree;
    private final WatchedJvm jvm;

    SimHunt(SourceTree tree, WatchedJvm jvm) {
        this.tree = tree;
        this.jvm = jvm;
    }

    /**
     * Runs seeds until one has a violation that it does not have without the bug.
     *
     * @param classes the directory of the changed ones
     */
    Verdict hunt(BySim catcher, Path classes) {
        int tried = 0;
        while (tried < catcher.atMost()) {
            final String classPath = classes + File.pathSeparator + SourceTree.classPath();
            final String found = search(catcher, classPath, FIRST_SEED + tried, catcher.atMost() - tried);
            if (!found.startsWith(SeedSearch.FOUND)) {
                return new Verdict(false, catcher.atMost(), found);
            }
            final String[] seedsAndWhat =
                    found.substring(SeedSearch.FOUND.length()).split(" ", 2);
            tried += Integer.parseInt(seedsAndWhat[0]);
            final String without = search(catcher, SourceTree.classPath(), FIRST_SEED + tried - 1, 1);
            if (without.equals(SeedSearch.NOTHING)) {
                return new Verdict(true, tried, seedsAndWhat[1]);
            }
        }
        return new Verdict(false, tried, "the seeds that find something find it without the bug too");
    }

    private String search(BySim catcher, String classPath, long firstSeed, int most) {
        final List<String> command = tree.java();
        if (catcher.took() < MANY_SEEDS || most == 1) {
            command.addAll(tree.shortLived());
        }
        command.addAll(List.of(
                "-ea",
                // Without this the JIT drops the points.
                "-Drowan.chaos=true",
                // The simulation checks the agents' reports; their log is not read.
                "-Drowan.log.level=off",
                "-cp",
                classPath,
                SeedSearch.class.getName(),
                catcher.form().name(),
                Long.toString(firstSeed),
                Integer.toString(most)));
        final WatchedJvm.Ended ended = jvm.run(command, tree.root(), Integer.MAX_VALUE, MOST_SECONDS_A_SEED);
        final String last =
                ended.lines().isEmpty() ? "" : ended.lines().get(ended.lines().size() - 1);
        if (ended.wasEnded()) {
            return "made no progress for " + MOST_SECONDS_A_SEED + " s: " + last;
        }
        return ended.exitCode() == 0 ? last : "ended with exit code " + ended.exitCode() + ": " + last;
    }
}
