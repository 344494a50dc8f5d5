package org.rowankv.sim;

import org.jspecify.annotations.Nullable;

/**
 * What came of a run.
 *
 * @param hash of its trace
 * @param violation the first one, or null
 */
record SimReport(
        SimPlan plan,
        long hash,
        int operations,
        Happenings happenings,
        @Nullable String violation) {}
