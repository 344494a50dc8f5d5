package org.rowankv.runtime;

import java.util.concurrent.atomic.AtomicLong;

/**
 * A counter with one writer at a time and any number of readers. Readers see updates soon; the writer needs no atomic
 * addition.
 */
public final class OwnedCounter {
    private final AtomicLong value = new AtomicLong();

    /** Adds to the counter. Owner only. */
    public void add(long delta) {
        value.setOpaque(value.getPlain() + delta);
    }

    public long get() {
        return value.getOpaque();
    }
}
