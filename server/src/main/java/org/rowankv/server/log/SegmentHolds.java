package org.rowankv.server.log;

/**
 * The closed segments that the cleaner leaves alone, because entries in them may be asked for by their addresses before
 * they are on all replicas. Owned by the thread of a server's agents.
 */
public final class SegmentHolds {
    /** By segment: the number of such entries. */
    private final int[] counts;

    private int held;

    SegmentHolds(int segmentCount) {
        this.counts = new int[segmentCount];
    }

    /** An entry in that segment stays where it is, until {@link #release}. */
    public void hold(int segment) {
        counts[segment]++;
        held++;
    }

    /** An entry held in that segment is not asked for any more. */
    public void release(int segment) {
        if (counts[segment] == 0) {
            throw new AssertionError("nothing is held in segment " + segment);
        }
        counts[segment]--;
        held--;
    }

    public boolean isHeld(int segment) {
        return counts[segment] > 0;
    }

    /** Whether any segment is held. */
    public boolean areAny() {
        return held > 0;
    }
}
