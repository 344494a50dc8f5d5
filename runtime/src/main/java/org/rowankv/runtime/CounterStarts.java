package org.rowankv.runtime;

/**
 * Start values of counters: the usual first value, or, for tests, a few steps before a critical point. Critical points
 * are overflow, a change of sign, and an action just before either. A counter that continues from stored state never
 * starts below the stored value.
 *
 * <p>Immutable.
 *
 * @param stepsLeft steps between the first value and the point; negative: counters start as usual
 */
public record CounterStarts(long stepsLeft) {
    private static final long NOT_NEAR = -1;

    /** Every counter starts at its usual first value. */
    public static final CounterStarts USUAL = new CounterStarts(NOT_NEAR);

    /**
     * Counters start this many steps before their critical points.
     *
     * @throws IllegalArgumentException if {@code stepsLeft} is negative
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
     * Start value of a counter.
     *
     * @param first the usual start value
     * @param point the critical value
     */
    public long of(long first, long point) {
        return areNearEnds() ? Math.max(first, point - stepsLeft) : first;
    }

    /** As above, for a 32-bit counter. */
    public int of(int first, int point) {
        return Math.toIntExact(of((long) first, (long) point));
    }
}
