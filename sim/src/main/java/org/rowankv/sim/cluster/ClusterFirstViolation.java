package org.rowankv.sim.cluster;

import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import org.rowankv.server.membership.FabricKind;
import org.rowankv.sim.FirstViolation;
import org.rowankv.sim.SimThread;

/** The first seed with a violation in clusters of processes. */
public final class ClusterFirstViolation {
    private ClusterFirstViolation() {}

    /**
     * Returns null if none of the seeds has a violation.
     *
     * @param fabric between the servers
     * @param begins receives each seed before it runs
     */
    public static @Nullable FirstViolation of(long firstSeed, int most, FabricKind fabric, LongConsumer begins) {
        SimThread.installPoints();
        final MemoryPool pool = new MemoryPool();
        for (int i = 0; i < most; i++) {
            begins.accept(firstSeed + i);
            final FirstViolation found =
                    FirstViolation.in(i + 1, ClusterSimulation.run(ClusterPlan.of(firstSeed + i, fabric), pool));
            if (found != null) {
                return found;
            }
        }
        return null;
    }
}
