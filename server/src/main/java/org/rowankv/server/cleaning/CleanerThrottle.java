package org.rowankv.server.cleaning;

import org.rowankv.runtime.Clock;

/**
 * Throttles the cleaner by the number of free segments. The fewer segments are free, the larger its share of time, and
 * the fuller a segment may be that is cleaned. Between the two water marks both follow the number of free segments. So
 * cleaning settles at the rate of consumption, in short steps, instead of bursts that would delay concurrent writers.
 * Below the low mark, and while space is requested, it never idles.
 *
 * <p>Used by the cleaner's thread.
 */
final class CleanerThrottle {
    /** Minimum share of the time for work in progress. */
    private static final double MIN_SHARE = 1.0 / 16;
    /** Longest idle time between two steps of work in progress. */
    private static final long MAX_IDLE_NS = 1_000_000;
    /** A sleeping thread sleeps at least about that long, so shorter idle times are accumulated. */
    private static final long MIN_IDLE_NS = 200_000;
    /** At the high mark, the maximum live fraction of a segment that is cleaned. */
    private static final double MIN_LIMIT = 0.5;

    private final Clock clock;
    private final int lowWater;
    private final int highWater;
    private long stepBeganNs;
    private long restEndsNs;
    private long restOwedNs;
    private boolean resting;

    CleanerThrottle(Clock clock, int lowWater, int highWater) {
        this.clock = clock;
        this.lowWater = lowWater;
        this.highWater = Math.max(highWater, lowWater + 1);
    }

    /** Whether free segments are few enough to clean one more. */
    boolean isNeeded(int free) {
        return free < highWater;
    }

    /** Whether writers wait or soon will. */
    boolean isUrgent(int free) {
        return free <= lowWater;
    }

    /** 0 at the high mark, 1 at the low one. */
    private double pressure(int free) {
        return Math.max(0, Math.min(1, (double) (highWater - free) / (highWater - lowWater)));
    }

    /** The maximum live bytes of a segment of that length that is cleaned. */
    int limit(int free, int segmentLength) {
        return (int) (segmentLength * (MIN_LIMIT + (1 - MIN_LIMIT) * pressure(free)));
    }

    /** Whether the next step is due; if so, it begins now. */
    boolean begin(boolean atOnce) {
        final long nowNs = clock.nanoTime();
        if (resting && !atOnce && nowNs - restEndsNs < 0) {
            return false;
        }
        stepBeganNs = nowNs;
        return true;
    }

    /** Ends the step and starts an idle time, the longer the lower the pressure. */
    void end(int free) {
        final long nowNs = clock.nanoTime();
        final double share = Math.max(MIN_SHARE, pressure(free));
        restOwedNs += (long) ((nowNs - stepBeganNs) * (1 - share) / share);
        resting = restOwedNs >= MIN_IDLE_NS;
        if (resting) {
            restEndsNs = nowNs + Math.min(MAX_IDLE_NS, restOwedNs);
            restOwedNs = 0;
        }
    }
}
