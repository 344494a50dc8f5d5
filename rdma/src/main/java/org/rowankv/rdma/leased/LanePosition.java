package org.rowankv.rdma.leased;

/** A position in a lane, as one word: the ordinal of a segment, then strides in it. Later positions are greater. */
final class LanePosition {
    private static final int STRIDE_BITS = 20;
    private static final long STRIDE_MASK = (1L << STRIDE_BITS) - 1;

    private LanePosition() {}

    static long of(long ordinal, int strides) {
        return ordinal << STRIDE_BITS | strides;
    }

    static long ordinal(long position) {
        return position >>> STRIDE_BITS;
    }

    static int strides(long position) {
        return (int) (position & STRIDE_MASK);
    }
}
