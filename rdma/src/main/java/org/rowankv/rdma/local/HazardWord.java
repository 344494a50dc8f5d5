package org.rowankv.rdma.local;

/**
 * Where one sender, or the fencer, says which segment it may be touching.
 *
 * <pre>
 *   63      62       61          41 40           17 16            0
 *   +-------+--------+-------------+---------------+---------------+
 *   | named | owning |    zero     |  segment  24  |  offset  17   |
 *   +-------+--------+-------------+---------------+---------------+
 * </pre>
 *
 * <p>Written by its owner only. {@link #name} is a full store: the owner then looks again at what made it choose the
 * segment (the ring word, its permission), and touches nothing if that has changed. So who takes a segment away
 * changes those first, looks at the hazard words second, and either finds the segment named or knows that the owner
 * will not touch it. {@link #own} adds, after that second look and before the reservation, the place that may become
 * the owner's; a fence voids what it finds reserved there. {@link #clear} comes after the last access.
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
