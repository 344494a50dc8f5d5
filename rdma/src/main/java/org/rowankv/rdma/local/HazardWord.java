package org.rowankv.rdma.local;

/**
 * Hazard word: the segment that one sender, or the fencer, may be accessing.
 *
 * <pre>
 *   63      62       61          41 40           17 16            0
 *   +-------+--------+-------------+---------------+---------------+
 *   | named | owning |    zero     |  segment  24  |  offset  17   |
 *   +-------+--------+-------------+---------------+---------------+
 * </pre>
 *
 * <p>Written by its owner only. {@link #name} is a full store: the owner then checks the ring word and its permission
 * again, and accesses nothing if they have changed. A thread that takes a segment away changes those first and reads
 * the hazard words second: either it finds the segment named, or the owner will not access it. {@link #own} adds, after
 * that second check and before the reservation, the slot that the owner may get; a fence voids a reservation there.
 * {@link #clear} follows the last access.
 */
final class HazardWord {
    private static final long NAMED = 1L << 63;
    private static final long OWNING = 1L << 62;
    private static final int SEGMENT_SHIFT = 17;
    private static final int SEGMENT_MASK = (1 << 24) - 1;

    private final PaddedLong word = new PaddedLong();

    void name(int segment) {
        word.setVolatile(NAMED | ((long) segment << SEGMENT_SHIFT));
    }

    void own(int segment, int offsetStrides) {
        word.setRelease(owning(segment, offsetStrides));
    }

    void clear() {
        word.setRelease(0);
    }

    long get() {
        return word.getVolatile();
    }

    boolean isSet() {
        return get() != 0;
    }

    boolean names(int segment) {
        final long value = get();
        return value != 0 && segment(value) == segment;
    }

    static long owning(int segment, int offsetStrides) {
        return NAMED | OWNING | ((long) segment << SEGMENT_SHIFT) | offsetStrides;
    }

    static boolean isOwning(long value) {
        return (value & OWNING) != 0;
    }

    static int segment(long value) {
        return (int) (value >>> SEGMENT_SHIFT) & SEGMENT_MASK;
    }

    static int offsetStrides(long value) {
        return (int) value & RingWord.MAX_TAIL;
    }
}
