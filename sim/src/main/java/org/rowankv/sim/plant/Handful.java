package org.rowankv.sim.plant;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.rowankv.sim.plant.Catcher.BySim;

/** Selection of a few planted bugs for a build: a different one after each commit, each quick to catch. */
final class Handful {
    private static final int BY_SIM = 2;
    private static final int BY_TEST = 2;
    /** Low: what took a few seeds on one tree can take many times as many on the next. */
    private static final int MOST_SEEDS = 6;

    private static final int MOST_SECONDS = 6;

    private Handful() {}

    /** @param commit determines the selection; the same text selects the same ones */
    static List<PlantedBug> of(List<PlantedBug> all, String commit) {
        final Random random = new Random(commit.hashCode());
        return Stream.concat(
                        some(all, Handful::isQuickInSim, BY_SIM, random).stream(),
                        some(all, Handful::isQuickTest, BY_TEST, random).stream())
                .toList();
    }

    private static List<PlantedBug> some(List<PlantedBug> all, Predicate<PlantedBug> suits, int count, Random random) {
        final List<PlantedBug> suitable =
                new ArrayList<>(all.stream().filter(suits).toList());
        Collections.shuffle(suitable, random);
        return suitable.subList(0, Math.min(count, suitable.size()));
    }

    private static boolean isQuickInSim(PlantedBug bug) {
        return bug.catcher() instanceof BySim && bug.catcher().took() <= MOST_SEEDS;
    }

    private static boolean isQuickTest(PlantedBug bug) {
        return !(bug.catcher() instanceof BySim) && bug.catcher().took() <= MOST_SECONDS;
    }

    /** The commit that is checked out, or a fixed word where the sources are not in a repository. */
    static String commit(SourceTree tree) {
        try {
            final Process git = new ProcessBuilder("git", "rev-parse", "HEAD")
                    .directory(tree.root().toFile())
                    .redirectErrorStream(true)
                    .start();
            final String said = new String(git.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
            return git.waitFor() == 0 ? said : "none";
        } catch (IOException e) {
            // There is no git here.
            return "none";
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }
}
