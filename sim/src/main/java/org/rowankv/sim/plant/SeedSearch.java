package org.rowankv.sim.plant;

import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import org.rowankv.sim.FirstViolation;
import org.rowankv.sim.cluster.ClusterFirstViolation;

/**
 * Main class of a JVM with a planted bug: runs seeds until one finds a violation. It prints each seed before it runs,
 * and the finding as its last line.
 */
final class SeedSearch {
    static final String FOUND = "found: ";
    static final String NOTHING = "found nothing";
    static final String CLUSTER = "cluster";
    static final String STORE = "store";

    private SeedSearch() {}

    /** Arguments: the simulator, the first seed, the maximum number of seeds. */
    public static void main(String[] args) {
        final LongConsumer begins = seed -> System.out.println("seed " + seed);
        final long firstSeed = Long.parseLong(args[1]);
        final int most = Integer.parseInt(args[2]);
        final @Nullable FirstViolation found = args[0].equals(CLUSTER)
                ? ClusterFirstViolation.of(firstSeed, most, begins)
                : FirstViolation.of(firstSeed, most, begins);
        System.out.println(found == null ? NOTHING : FOUND + found.seeds() + " " + found.violation());
        // Threads of an aborted simulation may be left.
        System.exit(0);
    }
}
