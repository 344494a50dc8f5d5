package org.rowankv.sim.plant;

import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import org.rowankv.sim.FirstViolation;
import org.rowankv.sim.cluster.ClusterFirstViolation;

/**
 * The program of a JVM with a planted bug: runs seeds until one finds something. It prints each seed as it begins, and as its
 * last line what was found.
 */
final class SeedSearch {
    static final String FOUND = "found: ";
    static final String NOTHING = "found nothing";
    static final String CLUSTER = "cluster";
    static final String STORE = "store";

    private SeedSearch() {}

    /** The arguments are the simulator, the first seed, and how many at most. */
    public static void main(String[] args) {
        final LongConsumer begins = seed -> System.out.println("seed " + seed);
        final long firstSeed = Long.parseLong(args[1]);
        final int most = Integer.parseInt(args[2]);
        final @Nullable FirstViolation found = args[0].equals(CLUSTER)
                ? ClusterFirstViolation.of(firstSeed, most, begins)
                : FirstViolation.of(firstSeed, most, begins);
        System.out.println(found == null ? NOTHING : FOUND + found.seeds() + " " + found.violation());
        // Threads of a simulation that was broken off may be left.
        System.exit(0);
    }
}
