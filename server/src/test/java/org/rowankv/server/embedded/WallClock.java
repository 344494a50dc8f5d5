package org.rowankv.server.embedded;

import java.util.concurrent.atomic.AtomicLong;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.SystemClock;

/** The time of day stands still until it is set; the time by which agents pace themselves goes on. */
final class WallClock implements Clock {
    private final AtomicLong wallMs = new AtomicLong(1_700_000_000_000L);

    @Override
    public long nanoTime() {
        return SystemClock.INSTANCE.nanoTime();
    }

    @Override
    public long wallMs() {
        return wallMs.get();
    }

    /** Either way. */
    void jump(long ms) {
        wallMs.addAndGet(ms);
    }
}
