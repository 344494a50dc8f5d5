package org.rowankv.sim.plant;

import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import org.rowankv.server.membership.FabricKind;
import org.rowankv.sim.FirstViolation;
import org.rowankv.sim.cluster.ClusterFirstViolation;
import org.rowankv.sim.plant.Catcher.Simulator;

/**
 * Main class of a JVM with a planted bug: runs seeds until one finds a violation. It prints each seed before it runs,
 * and the finding as its last line.
 */
final class SeedSearch {
    static final String FOUND = "found: ";
    static final String NOTHING = "found nothing";

    private SeedSearch() {}

    /** Arguments: the simulator, the first seed, the maximum number of seeds. */
    public static void main(String[] args) {
        final LongConsumer begins = seed -> System.out.println("seed " + seed);
        final long firstSeed = Long.parseLong(args[1]);
        final int most = Integer.parseInt(args[2]);
        final @Nullable FirstViolation found = switch (Simulator.valueOf(args[0])) {
            case STORE -> FirstViolation.of(firstSeed, most, begins);
            case CLUSTER -> ClusterFirstViolation.of(firstSeed, most, FabricKind.TCP, begins);
            case LEASED -> ClusterFirstViolation.of(firstSeed, most, FabricKind.RDMA_LEASED, begins);
        };
        System.out.println(found == null ? NOTHING : FOUND + found.seeds() + " " + found.violation());
        // Threads of an aborted simulation may be left.
        System.exit(0);
    }
}
