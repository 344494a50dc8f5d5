package org.rowankv.sim;

import org.jspecify.annotations.Nullable;
import org.rowankv.sim.workload.Coverage;

/**
 * Result of simulating many stores, one for each seed.
 *
 * @param hash of its trace
 * @param begun number of begun operations
 * @param violation the first one, or null
 */
record SimReport(
        SimPlan plan,
        long hash,
        int begun,
        EventCounters eventCounters,
        Coverage coverage,
        @Nullable String violation) implements SeedReport<SimReport> {
    @Override
    public long seed() {
        return plan.seed();
    }

    @Override
    public String command() {
        return "./rowan sim --seed " + seed();
    }

    @Override
    public SimReport withViolation(String what) {
        return new SimReport(plan, hash, begun, eventCounters, coverage, what);
    }
}
