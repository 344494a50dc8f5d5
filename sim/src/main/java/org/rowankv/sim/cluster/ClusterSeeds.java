package org.rowankv.sim.cluster;

import java.io.PrintStream;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rowankv.server.membership.FabricKind;
import org.rowankv.sim.EventCounters;
import org.rowankv.sim.SeedReport;
import org.rowankv.sim.Seeds;
import org.rowankv.sim.SimOnThread;

/** Clusters of processes, connected by one fabric. */
public final class ClusterSeeds implements Seeds {
    private final FabricKind fabric;
    private final MemoryPool pool = new MemoryPool();

    public ClusterSeeds(FabricKind fabric) {
        this.fabric = fabric;
    }

    @Override
    public String plan(long seed) {
        return ClusterPlan.of(seed, fabric).toString();
    }

    @Override
    public List<String> traits(long seed) {
        return ClusterPlan.of(seed, fabric).traits();
    }

    /** Runs on a separate thread: thread-local state of libraries would retain whole simulations. */
    @Override
    public SeedReport run(long seed, @Nullable Consumer<String> reader) {
        pool.begin();
        final SeedReport[] report = new SeedReport[1];
        SimOnThread.run(() -> report[0] = new ClusterSimulation(ClusterPlan.of(seed, fabric), pool, reader).run());
        return report[0];
    }

    @Override
    public List<String> missing(EventCounters met, int seeds) {
        return seeds >= ClusterExpected.FULL_RUN ? ClusterExpected.missing(met, fabric) : List.of();
    }

    @Override
    public void shrink(SeedReport failing, PrintStream out) {
        // Smaller clusters take another course.
    }
}
