package org.rowankv.server.dispatch;

import org.rowankv.runtime.Clock;

/**
 * Time limit of one wait, with a minimum number of checks: a process that did not run for a while finds the time
 * passed, but has not waited. For one thread.
 */
public final class WaitLimit {
    private static final int MIN_CHECKS = 1_000;

    private final Clock clock;
    private final long endNs;
    private int checks;

    public WaitLimit(Clock clock, long ns) {
        this.clock = clock;
        this.endNs = clock.nanoTime() + ns;
    }

    /** Whether the limit is reached. Call before each pause of the wait. */
    public boolean isOver() {
        return ++checks > MIN_CHECKS && clock.nanoTime() - endNs >= 0;
    }
}
