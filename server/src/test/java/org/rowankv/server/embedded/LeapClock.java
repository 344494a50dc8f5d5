package org.rowankv.server.embedded;

import java.util.concurrent.atomic.AtomicLong;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.SystemClock;

/** The machine's clocks, both of which can be set forward. */
final class LeapClock implements Clock {
    private final AtomicLong aheadNs = new AtomicLong();

    @Override
    public long nanoTime() {
        return SystemClock.INSTANCE.nanoTime() + aheadNs.get();
    }

    @Override
    public long wallMs() {
        return SystemClock.INSTANCE.wallMs() + aheadNs.get() / 1_000_000;
    }

    void leap(long ns) {
        aheadNs.addAndGet(ns);
    }
}
