package org.rowankv.server.cleaning;

import org.rowankv.runtime.Clock;

/**
 * How hard to clean: the fewer segments are free, the larger the share of the time, and the fuller a segment may be that is
 * cleaned. Between the two water marks both follow the number of free segments, so cleaning settles where it gives back
 * just what is consumed, in steps as short as can be: not at full speed for a while and then not at all, which whoever
 * writes meanwhile would feel. Below the low mark, and while somebody waits for space, there is no rest.
 *
 * <p>Used by the cleaner's thread.
 */
final class CleanerThrottle {
    /** Least share of the time that what was begun goes on with. */
    private static final double LEAST_SHARE = 1.0 / 16;
    /** Longest rest, in which nobody should notice that agents have been at work. */
    private static final long LONGEST_REST_NS = 1_000_000;
    /** A thread that rests sleeps at least about that long, so shorter rests are put together. */
    private static final long SHORTEST_REST_NS = 200_000;
    /** At the high mark, what lives at most in a segment that is cleaned. */
    private static final double LEAST_LIMIT = 0.5;

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
    boolean isWanted(int free) {
        return free < highWater;
    }

    /** Whether writers are about to wait, or do. */
    boolean isUrgent(int free) {
        return free <= lowWater;
    }

    /** 0 at the high mark, 1 at the low one. */
    private double pressure(int free) {
        return Math.max(0, Math.min(1, (double) (highWater - free) / (highWater - lowWater)));
    }

    /** How many bytes may live in a segment of that length that is to be cleaned. */
    int limit(int free, int segmentLength) {
        return (int) (segmentLength * (LEAST_LIMIT + (1 - LEAST_LIMIT) * pressure(free)));
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

    /** The step is over: now a rest, the longer the less the pressure. */
    void end(int free) {
        final long nowNs = clock.nanoTime();
        final double share = Math.max(LEAST_SHARE, pressure(free));
        restOwedNs += (long) ((nowNs - stepBeganNs) * (1 - share) / share);
        resting = restOwedNs >= SHORTEST_REST_NS;
        if (resting) {
            restEndsNs = nowNs + Math.min(LONGEST_REST_NS, restOwedNs);
            restOwedNs = 0;
        }
    }
}
