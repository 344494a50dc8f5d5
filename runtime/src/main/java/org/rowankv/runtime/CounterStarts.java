package org.rowankv.runtime;

/**
 * Where counters begin: at the first value they have, or, for tests, a few steps before something happens to them, as their end, a
 * change of their sign, or what is done before either. Counters that go on in what is stored are begun no lower than they stand.
 *
 * <p>Immutable.
 *
 * @param stepsLeft between the first value and the point; negative: counters begin as usual
 */
public record CounterStarts(long stepsLeft) {
    private static final long NOT_NEAR = -1;

    /** Every counter begins with its first value. */
    public static final CounterStarts USUAL = new CounterStarts(NOT_NEAR);

    /**
     * Counters begin so many steps before their points.
     *
     * @throws IllegalArgumentException if that is negative
     */
    public static CounterStarts nearEnds(long stepsLeft) {
        if (stepsLeft < 0) {
            throw new IllegalArgumentException("steps left: " + stepsLeft);
        }
        return new CounterStarts(stepsLeft);
    }

    public boolean areNearEnds() {
        return stepsLeft >= 0;
    }

    /**
     * The value that a counter begins with.
     *
     * @param first the usual one
     * @param point the value at which something happens
     */
    public long of(long first, long point) {
        return areNearEnds() ? Math.max(first, point - stepsLeft) : first;
    }

    /** As above, of a counter of 32 bits. */
    public int of(int first, int point) {
        return Math.toIntExact(of((long) first, (long) point));
    }
}
