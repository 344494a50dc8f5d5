package org.rowankv.runtime;

import java.util.concurrent.atomic.AtomicLong;

/** A counter with one writer at a time and any number of readers, who see it soon: no atomic addition is needed. */
public final class OwnedCounter {
    private final AtomicLong value = new AtomicLong();

    /** By the owner only. */
    public void add(long delta) {
        value.setOpaque(value.getPlain() + delta);
    }

    public long get() {
        return value.getOpaque();
    }
}
