package org.rowankv.runtime;

/** How often a failure that repeats is logged: at 1, 10, 100, 1000 … times, and after an hour without it. */
final class LogPace {
    /** A failure that has not repeated for so long is logged again. */
    private static final long QUIET_MS = 3_600_000;

    private LogPace() {}

    /**
     * @param count how many there were, this one included
     * @param lastMs wall-clock milliseconds of the one before
     */
    static boolean isDue(long count, long lastMs, long nowMs) {
        return count > 1 && nowMs - lastMs >= QUIET_MS || isPowerOfTen(count);
    }

    private static boolean isPowerOfTen(long value) {
        long power = 1;
        while (power < value) {
            power *= 10;
        }
        return power == value;
    }
}
