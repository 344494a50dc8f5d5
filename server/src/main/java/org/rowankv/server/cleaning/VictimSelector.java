package org.rowankv.server.cleaning;

import java.util.function.IntPredicate;
import org.rowankv.server.log.Segments;

/** Selects the segment to clean next; every result is a segment, or −1. Used by the cleaner's thread. */
final class VictimSelector {
    /** Bytes that are copied at most to get one byte of tombstones back. */
    private static final int COPIED_FOR_ONE = 32;

    private final Segments segments;
    private final IntPredicate cleanable;

    VictimSelector(Segments segments, IntPredicate cleanable) {
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
    int worthiest(long horizonNow, int liveLimit) {
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
    private long age(int segment) {
        return Math.max(1, segments.lastSequence() - segments.sequence(segment) + 1);
    }

    /** The segment with the fewest live bytes, if anything is to be gained. */
    int emptiest(long horizonNow) {
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

    /** Bytes of the tombstones in closed segments that something may still need. */
    long heldBack(long horizonNow) {
        long bytes = 0;
        for (int s = 0; s < segments.count(); s++) {
            if (segments.isClosed(s) && segments.effectiveStamp(s, 0) >= horizonNow) {
                bytes += segments.tombstoneBytes(s);
            }
        }
        return bytes;
    }

    /**
     * The segment to which the area's horizon is due, if that is one that can be cleaned, and the horizon would move without
     * it.
     */
    int oldestHolder() {
        int oldest = -1;
        for (int s = 0; s < segments.count(); s++) {
            if (segments.holdsHorizon(s)
                    && segments.horizon(s) < segments.lastSequence()
                    && (oldest < 0 || segments.horizon(s) < segments.horizon(oldest))) {
                oldest = s;
            }
        }
        return oldest >= 0 && cleanable.test(oldest) ? oldest : -1;
    }

    /**
     * The segment that holds the horizon back, if its few live bytes are less than the tombstones that could go once it and
     * those behind it are gone. Nothing, however, passes a holder that cannot be cleaned, as an open log is: what its like
     * keeps is not counted, or everything in front of it would be copied again and again for nothing.
     */
    int holdingBack(long horizonNow) {
        final int oldest = oldestHolder();
        if (oldest < 0) {
            return -1;
        }
        long blockedAt = segments.lastSequence();
        for (int s = 0; s < segments.count(); s++) {
            if (segments.holdsHorizon(s) && segments.horizon(s) < blockedAt && !cleanable.test(s)) {
                blockedAt = segments.horizon(s);
            }
        }
        long tombstones = 0;
        for (int s = 0; s < segments.count(); s++) {
            if (segments.isClosed(s) && segments.effectiveStamp(s, 0) < blockedAt) {
                tombstones += segments.tombstoneBytes(s);
            }
        }
        return tombstones > segments.liveBytes(oldest, horizonNow) ? oldest : -1;
    }

    /** The segment with the most tombstones behind the horizon, if it is worth copying what lives beside them. */
    int richestInTombstones(long horizonNow) {
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
