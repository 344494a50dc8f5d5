package org.rowankv.server.dispatch;

import org.rowankv.runtime.Clock;

/**
 * Ends one wait after a time, and not before a number of looks: a process that did not run for a while finds the time passed,
 * and has not waited. For one thread.
 */
public final class WaitLimit {
    private static final int LEAST_LOOKS = 1_000;

    private final Clock clock;
    private final long endNs;
    private int looks;

    public WaitLimit(Clock clock, long ns) {
        this.clock = clock;
        this.endNs = clock.nanoTime() + ns;
    }

    /** Whether it is over. Called before each pause of the wait. */
    public boolean isOver() {
        return ++looks > LEAST_LOOKS && clock.nanoTime() - endNs >= 0;
    }
}
