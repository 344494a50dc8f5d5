package org.rowankv.server.log;

import java.util.BitSet;

/**
 * Segments of one area that somebody reads as a whole while the server runs: a copy, or a comparison. The cleaner leaves
 * them alone, so whatever lies in them stays where it is and what it is; everybody else goes on, and appends to those that
 * are open. One reader at a time.
 *
 * <p>Guarantees: what is pinned is neither freed nor used again. A writer never waits for a reader without end: when the
 * cleaner needs what is pinned, and none of it was given back for {@link #PATIENCE_NS} (at first {@link
 * #BRIEF_PATIENCE_NS}), all of it is, and the reader finds
 * out ({@link #isGivenUp}).
 *
 * <p>Not guaranteed: that a store which is full but for tombstones gets their space back meanwhile; it may say FULL sooner.
 *
 * <p>In DRAM only: a process that ends holds no pins. Thread-safe.
 */
public final class SegmentPins {
    /** How long the cleaner waits for the next pinned segment before writers matter more. */
    public static final long PATIENCE_NS = 10_000_000_000L;
    /** The same while all is pinned: it should take some milliseconds, and may never come to an end in a full store. */
    public static final long BRIEF_PATIENCE_NS = 100_000_000;

    private final int count;
    private final BitSet pinned = new BitSet();
    private boolean held;
    private boolean givenUp;
    private long patienceNs;
    private long lastReleaseNs;
    /** Read without the lock on every look for a victim. */
    private volatile boolean any;

    SegmentPins(int count) {
        this.count = count;
    }

    /**
     * From now on nothing is freed, whatever it is: also what is opened from now on.
     *
     * @throws IllegalStateException if somebody holds pins
     */
    public synchronized void pinAll(long nowNs) {
        if (held) {
            throw new IllegalStateException("segments are pinned by somebody else");
        }
        held = true;
        givenUp = false;
        patienceNs = BRIEF_PATIENCE_NS;
        lastReleaseNs = nowNs;
        pinned.set(0, count);
        any = true;
    }

    /** Of all that is pinned, only these go on being. */
    public synchronized void keep(BitSet segments, long nowNs) {
        pinned.and(segments);
        any = !pinned.isEmpty();
        patienceNs = PATIENCE_NS;
        lastReleaseNs = nowNs;
    }

    /** The reader is done with a segment. */
    public synchronized void release(int segment, long nowNs) {
        pinned.clear(segment);
        any = !pinned.isEmpty();
        lastReleaseNs = nowNs;
    }

    /** The reader is done. */
    public synchronized void releaseAll() {
        pinned.clear();
        any = false;
        held = false;
    }

    public boolean isPinned(int segment) {
        return any && isPinnedNow(segment);
    }

    private synchronized boolean isPinnedNow(int segment) {
        return pinned.get(segment);
    }

    /** How many are pinned. */
    public synchronized int count() {
        return pinned.cardinality();
    }

    /** The cleaner found nothing to clean although writers are about to wait, or do. */
    public void lacked(long nowNs) {
        if (any) {
            giveUpIfStuck(nowNs);
        }
    }

    private synchronized void giveUpIfStuck(long nowNs) {
        if (held && nowNs - lastReleaseNs > patienceNs) {
            givenUp = true;
            pinned.clear();
            any = false;
        }
    }

    /** Whether pins were taken from their reader: what it has read since may be wrong. */
    public synchronized boolean isGivenUp() {
        return givenUp;
    }
}
