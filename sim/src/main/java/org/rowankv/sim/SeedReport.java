package org.rowankv.sim;

import org.jspecify.annotations.Nullable;
import org.rowankv.sim.workload.Coverage;

/**
 * Result of one seed, of any form.
 *
 * @param hash of its trace
 * @param begun number of begun operations
 * @param coverage of its clients
 * @param violation the first one, or null
 */
public record SeedReport(
        long seed,
        long hash,
        int begun,
        EventCounters eventCounters,
        Coverage coverage,
        @Nullable String violation) {
    /** The same, with that violation. */
    public SeedReport withViolation(String what) {
        return new SeedReport(seed, hash, begun, eventCounters, coverage, what);
    }
}
