package org.rowankv.server.cleaning;

import java.util.function.IntPredicate;
import org.rowankv.server.log.Segments;

/** Which segment to clean next; each answer is a segment, or −1. Used by the cleaner's thread. */
final class Victims {
    /** Bytes that are copied at most to get one byte of tombstones back. */
    private static final int COPIED_FOR_ONE = 32;

    private final Segments segments;
    private final IntPredicate cleanable;

    Victims(Segments segments, IntPredicate cleanable) {
        this.segments = segments;
        this.cleanable = cleanable;
    }

    /**
     * Nothing is gained by copying what is all alive, however much room it leaves: large entries leave the same room in the
     * next segment, for ever. Except where more than half is left, as in a log that was closed early: two of those become
     * one.
     */
    private boolean gains(int segment, int live) {
        return segments.entryBytes(segment) - live >= segments.length() / 64 || live < segments.length() / 2;
    }

    /**
     * The segment of the best ratio of benefit to cost, among those of which no more than so much lives: what is gained,
     * by what must be read and written for it, times the root of the segment's age: (1 − u) × √age / (1 + u). So a segment
     * whose rest is being overwritten is left to that, and one whose rest stays is cleaned while it is still fuller.
     *
     * <p>The age is that of the segment, not of what lives in it: what was copied again and again is old, but where all
     * is overwritten alike it dies no later than anything else, and would be copied for nothing.
     */
    int worthiest(int horizonNow, int liveLimit) {
        int best = -1;
        double bestWorth = -1;
        for (int s = 0; s < segments.count(); s++) {
            final int live = segments.liveBytes(s, horizonNow);
            if (live < 0 || live > liveLimit || !gains(s, live)) {
                continue;
            }
            final double worth =
                    (double) (segments.length() - live) / (segments.length() + (long) live) * Math.sqrt(age(s));
            if (worth > bestWorth && cleanable.test(s)) {
                best = s;
                bestWorth = worth;
            }
        }
        return best;
    }

    /** Segments opened since this one was, this one included. */
    private int age(int segment) {
        return Math.max(1, segments.lastSequence() - segments.sequence(segment) + 1);
    }

    /** The segment with the fewest live bytes, if anything is to be gained. */
    int emptiest(int horizonNow) {
        int best = -1;
        int bestLive = segments.length();
        for (int s = 0; s < segments.count(); s++) {
            final int live = segments.liveBytes(s, horizonNow);
            if (live >= 0 && live < bestLive && gains(s, live) && cleanable.test(s)) {
                best = s;
                bestLive = live;
            }
        }
        return best;
    }

    /** A segment whose few dead entries keep more tombstones than it has live bytes. */
    int holdingBack(int horizonNow) {
        long tombstones = 0;
        int oldest = -1;
        for (int s = 0; s < segments.count(); s++) {
            if (segments.isClosed(s)) {
                tombstones += segments.tombstoneBytes(s);
                if (segments.deadBytes(s) > 0
                        && cleanable.test(s)
                        && (oldest < 0 || segments.horizon(s) < segments.horizon(oldest))) {
                    oldest = s;
                }
            }
        }
        return oldest >= 0 && tombstones > segments.liveBytes(oldest, horizonNow) ? oldest : -1;
    }

    /** The segment with the most tombstones behind the horizon, if it is worth copying what lives beside them. */
    int richestInTombstones(int horizonNow) {
        int richest = -1;
        for (int s = 0; s < segments.count(); s++) {
            final int droppable = segments.tombstoneBytes(s);
            if (droppable > (richest < 0 ? 0 : segments.tombstoneBytes(richest))
                    && segments.effectiveStamp(s, 0) < horizonNow
                    && droppable >= segments.liveBytes(s, horizonNow) / COPIED_FOR_ONE
                    && cleanable.test(s)) {
                richest = s;
            }
        }
        return richest;
    }
}
