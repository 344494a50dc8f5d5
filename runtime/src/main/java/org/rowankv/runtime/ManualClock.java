package org.rowankv.runtime;

import java.util.concurrent.atomic.AtomicLong;

/**
 * A clock that moves when it is told to, for tests and the simulator. The two times move apart only by {@link #skew}.
 */
public final class ManualClock implements Clock {
    private final AtomicLong nowNs;
    private final AtomicLong wallOffsetMs;

    public ManualClock() {
        this(0, 0);
    }

    public ManualClock(long nowNs, long wallMs) {
        this.nowNs = new AtomicLong(nowNs);
        this.wallOffsetMs = new AtomicLong(wallMs - nowNs / 1_000_000);
    }

    @Override
    public long nanoTime() {
        return nowNs.get();
    }

    @Override
    public long wallMs() {
        return nowNs.get() / 1_000_000 + wallOffsetMs.get();
    }

    /** Moves both times on. */
    public void advanceNs(long ns) {
        if (ns < 0) {
            throw new IllegalArgumentException("monotonic time does not go back: " + ns);
        }
        nowNs.addAndGet(ns);
    }

    /** Moves both times on. */
    public void advanceMs(long ms) {
        advanceNs(ms * 1_000_000);
    }

    /** Moves the wall clock alone, either way. */
    public void skew(long ms) {
        wallOffsetMs.addAndGet(ms);
    }
}
