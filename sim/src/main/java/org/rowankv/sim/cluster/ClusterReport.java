package org.rowankv.sim.cluster;

import org.jspecify.annotations.Nullable;
import org.rowankv.sim.EventCounters;
import org.rowankv.sim.SeedReport;
import org.rowankv.sim.workload.Coverage;

/**
 * Result of simulating many clusters, one for each seed.
 *
 * @param hash of its trace
 * @param begun number of begun operations
 * @param violation the first one, or null
 */
record ClusterReport(
        ClusterPlan plan,
        long hash,
        int begun,
        EventCounters eventCounters,
        Coverage coverage,
        @Nullable String violation)
        implements SeedReport<ClusterReport> {
    @Override
    public long seed() {
        return plan.seed();
    }

    @Override
    public String command() {
        final String fabric = switch (plan.fabric()) {
            case TCP -> "";
            case RDMA_LANDED -> "--fabric landed ";
            case RDMA_LEASED -> "--fabric leased ";
        };
        return "./rowan sim --cluster " + fabric + "--seed " + seed();
    }

    @Override
    public ClusterReport withViolation(String what) {
        return new ClusterReport(plan, hash, begun, eventCounters, coverage, what);
    }
}
