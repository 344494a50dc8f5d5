package org.rowankv.rdma.local;

/**
 * Layout of the one word that every reservation in a ring changes by compare-and-set.
 *
 * <pre>
 *   63        53 52                 29 28             12 11           0
 *   +-----------+---------------------+-----------------+--------------+
 *   | epoch  11 |     ordinal  24     |    tail  17     | last len. 12 |
 *   +-----------+---------------------+-----------------+--------------+
 * </pre>
 *
 * <p>Tail and last length count strides of 64 bytes. The tail is where the next message goes in the segment of that
 * ordinal; the last length is that of the reservation that ends at the tail, 0 if the segment has none yet. A fence
 * raises the epoch. Epoch and ordinal wrap around; {@link LandingRing} states the guards.
 */
final class RingWord {
    /** Longest reservation the word can describe, in strides. */
    static final int MAX_LENGTH = (1 << 12) - 1;
    /** Longest segment the word can describe, in strides. */
    static final int MAX_TAIL = (1 << 17) - 1;

    static final int ORDINAL_MASK = (1 << 24) - 1;

    static final int MAX_EPOCH = (1 << 11) - 1;

    private static final int TAIL_SHIFT = 12;
    private static final int ORDINAL_SHIFT = 29;
    private static final int EPOCH_SHIFT = 53;
    private static final long EPOCH_MASK = -1L << EPOCH_SHIFT;

    private RingWord() {}

    /** The initial word. */
    static long first(int epoch, int ordinal) {
        return ((long) epoch << EPOCH_SHIFT) | ((long) ordinal << ORDINAL_SHIFT);
    }

    static int lastLength(long word) {
        return (int) word & MAX_LENGTH;
    }

    static int tail(long word) {
        return (int) (word >>> TAIL_SHIFT) & MAX_TAIL;
    }

    /** The low 24 bits of the ordinal. */
    static int ordinal(long word) {
        return (int) (word >>> ORDINAL_SHIFT) & ORDINAL_MASK;
    }

    static int epoch(long word) {
        return (int) (word >>> EPOCH_SHIFT);
    }

    /** The word after a reservation of strides at the tail. */
    static long reserved(long word, int strides) {
        return of(word, ordinal(word), tail(word) + strides, strides);
    }

    /** The word after a reservation of strides at the start of the next segment. */
    static long moved(long word, int strides) {
        return of(word, next(ordinal(word)), strides, strides);
    }

    /** The word after a fence. */
    static long raised(long word) {
        return word + (1L << EPOCH_SHIFT);
    }

    static int next(int ordinal) {
        return (ordinal + 1) & ORDINAL_MASK;
    }

    private static long of(long epochOf, int ordinal, int tail, int lastLength) {
        return (epochOf & EPOCH_MASK) | ((long) ordinal << ORDINAL_SHIFT) | ((long) tail << TAIL_SHIFT) | lastLength;
    }

    static String toString(long word) {
        return "epoch " + epoch(word) + ", ordinal " + ordinal(word) + ", tail " + tail(word) + ", last "
                + lastLength(word);
    }
}
