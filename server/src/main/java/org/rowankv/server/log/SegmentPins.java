package org.rowankv.server.log;

import java.util.BitSet;

/**
 * The segments of one area that a copy or comparison reads whole while the server runs. The cleaner leaves them alone,
 * so their content stays in place. All other components continue, and append to those that are open. One reader at a
 * time.
 *
 * <p>Guarantees: a pinned and held segment is neither freed nor reused. A writer never waits for a reader without
 * bound. If the cleaner needs pinned segments, and none was released for {@link #PATIENCE_NS} (at first {@link
 * #BRIEF_PATIENCE_NS}), all are unpinned, which the reader detects ({@link #isGivenUp}).
 *
 * <p>Not guaranteed: that a nearly full store accepts as much as without pins; it may respond FULL sooner.
 *
 * <p>In DRAM only: a process that ends holds no pins. Thread-safe.
 */
public final class SegmentPins {
    /** How long the cleaner waits for the next release before it unpins everything. */
    public static final long PATIENCE_NS = 10_000_000_000L;
    /** The same while all is pinned: normally some milliseconds, but unbounded in a full store. */
    public static final long BRIEF_PATIENCE_NS = 100_000_000;

    private final int count;
    private final BitSet pinned = new BitSet();
    private boolean held;
    private boolean holding;
    private boolean givenUp;
    private long patienceNs;
    private long lastReleaseNs;
    /** Read without the lock in every selection of a victim. */
    private volatile boolean any;

    SegmentPins(int count) {
        this.count = count;
    }

    /**
     * From now on no segment is selected for cleaning, later ones included. A segment being cleaned is still freed,
     * until {@link #hold}: otherwise the room for its copies would be missing when cleaning resumes.
     *
     * @throws IllegalStateException if another reader holds pins
     */
    public synchronized void pinAll(long nowNs) {
        if (held) {
            throw new IllegalStateException("segments are pinned by another reader");
        }
        held = true;
        holding = false;
        givenUp = false;
        patienceNs = BRIEF_PATIENCE_NS;
        lastReleaseNs = nowNs;
        pinned.set(0, count);
        any = true;
    }

    /** From now on no pinned segment is freed. */
    public synchronized void hold() {
        holding = true;
    }

    synchronized boolean mayBeFreed(int segment) {
        return !holding || !pinned.get(segment);
    }

    /** Keeps only these of the pinned segments. */
    public synchronized void keep(BitSet segments, long nowNs) {
        pinned.and(segments);
        any = !pinned.isEmpty();
        patienceNs = PATIENCE_NS;
        lastReleaseNs = nowNs;
    }

    /** The reader has finished a segment. */
    public synchronized void release(int segment, long nowNs) {
        pinned.clear(segment);
        any = !pinned.isEmpty();
        lastReleaseNs = nowNs;
    }

    /** The reader has finished. */
    public synchronized void releaseAll() {
        pinned.clear();
        any = false;
        held = false;
        holding = false;
    }

    /** Whether any segment is pinned. */
    public boolean areAny() {
        return any;
    }

    public boolean isPinned(int segment) {
        return any && isPinnedNow(segment);
    }

    private synchronized boolean isPinnedNow(int segment) {
        return pinned.get(segment);
    }

    /** The number of pinned segments. */
    public synchronized int count() {
        return pinned.cardinality();
    }

    /** The cleaner found nothing to clean although writers wait or soon will. */
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

    /** Whether the reader's pins were revoked: what it has read since may be wrong. */
    public synchronized boolean isGivenUp() {
        return givenUp;
    }
}
