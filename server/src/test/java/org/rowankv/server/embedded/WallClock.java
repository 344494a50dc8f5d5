package org.rowankv.server.embedded;

import java.util.concurrent.atomic.AtomicLong;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.SystemClock;

/**
 * The time of day stands still until it is set; the agents' interval time advances, faster while a test waits for
 * periodic work.
 */
final class WallClock implements Clock {
    private static final long HURRY_NS = 50_000_000;

    private final AtomicLong wallMs = new AtomicLong(1_700_000_000_000L);
    private final AtomicLong hurriedNs = new AtomicLong();

    @Override
    public long nanoTime() {
        return SystemClock.INSTANCE.nanoTime() + hurriedNs.get();
    }

    @Override
    public long wallMs() {
        return wallMs.get();
    }

    /** Advances the agents' time by a moment: called at each check, this shortens the wait. */
    void hurry() {
        hurriedNs.addAndGet(HURRY_NS);
    }

    /** Either way. */
    void jump(long ms) {
        wallMs.addAndGet(ms);
    }
}
