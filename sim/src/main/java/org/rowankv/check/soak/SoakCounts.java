package org.rowankv.check.soak;

import java.util.concurrent.atomic.LongAdder;

/** Operation counts and findings of writers and readers. Thread-safe. */
final class SoakCounts {
    final LongAdder creations = new LongAdder();
    final LongAdder overwrites = new LongAdder();
    final LongAdder removals = new LongAdder();
    final LongAdder removalsOfNothing = new LongAdder();
    final LongAdder refusals = new LongAdder();
    final LongAdder hits = new LongAdder();
    final LongAdder misses = new LongAdder();

    long operations() {
        return creations.sum()
                + overwrites.sum()
                + removals.sum()
                + removalsOfNothing.sum()
                + refusals.sum()
                + hits.sum()
                + misses.sum();
    }
}
