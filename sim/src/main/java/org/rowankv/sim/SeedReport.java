package org.rowankv.sim;

import org.jspecify.annotations.Nullable;
import org.rowankv.sim.workload.Coverage;

/**
 * Result of one seed, of either simulator.
 *
 * @param <R> the report itself
 */
public interface SeedReport<R> {
    long seed();

    /** The command that repeats this seed. */
    String command();

    /** Hash of the trace. */
    long hash();

    EventCounters eventCounters();

    /** Coverage of its clients. */
    Coverage coverage();

    /** The first violation, or null. */
    @Nullable
    String violation();

    /** The same, with that violation. */
    R withViolation(String what);
}
