package org.rowankv.sim.cluster;

import java.util.concurrent.Callable;
import org.rowankv.sim.SimThread;

/** The door to a Rowan-KV that was loaded with a planted bug: only types of the JDK go through it. */
public final class ClusterMutant implements Callable<String> {
    private final long firstSeed;
    private final int most;

    public ClusterMutant(long firstSeed, int most) {
        this.firstSeed = firstSeed;
        this.most = most;
    }

    /** How many seeds it took to find a violation, and the violation; empty if none was found. */
    @Override
    public String call() {
        SimThread.installPoints();
        final MemoryPool pool = new MemoryPool();
        for (int i = 0; i < most; i++) {
            final String violation =
                    ClusterSimulation.run(ClusterPlan.of(firstSeed + i), pool).violation();
            if (violation != null) {
                return i + 1 + " " + violation.lines().findFirst().orElse("");
            }
        }
        return "";
    }
}
