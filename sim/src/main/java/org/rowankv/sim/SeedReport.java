package org.rowankv.sim;

import org.jspecify.annotations.Nullable;
import org.rowankv.sim.workload.Coverage;

/**
 * What came of the run of one seed, of either simulator.
 *
 * @param <R> the report itself
 */
public interface SeedReport<R> {
    long seed();

    /** The command that runs this seed again. */
    String command();

    /** Of the trace. */
    long hash();

    Happenings happenings();

    /** What its clients have met. */
    Coverage coverage();

    /** The first one, or null. */
    @Nullable
    String violation();

    /** The same, with that violation. */
    R withViolation(String what);
}
