package org.rowankv.protocol;

/**
 * The 64-bit version of a log entry within its shard: epoch (24 bits, the topmost kept zero so that versions compare as
 * signed longs) and counter (40 bits). No (shard, version) pair is assigned twice: the epoch rises whenever the
 * primary's incarnation or the replica set changes, at every cold start, and before the counter wraps.
 *
 * <p>No code outside this package increments a version.
 */
public final class Version {
    /** The version of "nothing": smaller than every assigned version. */
    public static final long NONE = 0;

    public static final int COUNTER_BITS = 40;
    public static final long MAX_COUNTER = (1L << COUNTER_BITS) - 1;
    public static final int MAX_EPOCH = (1 << 23) - 1;

    private Version() {}

    public static long of(int epoch, long counter) {
        if (epoch < 0 || epoch > MAX_EPOCH) {
            throw new IllegalArgumentException("epoch out of range 0.." + MAX_EPOCH + ": " + epoch);
        }
        if (counter < 0 || counter > MAX_COUNTER) {
            throw new IllegalArgumentException("counter out of range 0.." + MAX_COUNTER + ": " + counter);
        }
        return ((long) epoch << COUNTER_BITS) | counter;
    }

    public static int epoch(long version) {
        return (int) (version >>> COUNTER_BITS);
    }

    public static long counter(long version) {
        return version & MAX_COUNTER;
    }

    /** The version after this one in the same epoch; {@link VersionCounter} asks for a new epoch long before the counter ends. */
    public static long next(long version) {
        return version + 1;
    }

    /** The largest version that is smaller than this one; {@link #NONE} stays {@link #NONE}. */
    public static long before(long version) {
        return version == NONE ? NONE : version - 1;
    }

    /** For display: {@code epoch.counter}. */
    public static String toString(long version) {
        return epoch(version) + "." + counter(version);
    }
}
