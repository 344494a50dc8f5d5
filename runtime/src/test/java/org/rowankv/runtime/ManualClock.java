package org.rowankv.runtime;

import java.util.concurrent.atomic.AtomicLong;

/** A clock that moves only on request, for tests and the simulator. The two times diverge only by {@link #skew}. */
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

    /** Advances both times. */
    public void advanceNs(long ns) {
        if (ns < 0) {
            throw new IllegalArgumentException("monotonic time does not go back: " + ns);
        }
        nowNs.addAndGet(ns);
    }

    /** Advances both times. */
    public void advanceMs(long ms) {
        advanceNs(ms * 1_000_000);
    }

    /** Moves the wall clock alone, in either direction. */
    public void skew(long ms) {
        wallOffsetMs.addAndGet(ms);
    }
}
