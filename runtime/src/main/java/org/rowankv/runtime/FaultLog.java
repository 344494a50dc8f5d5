package org.rowankv.runtime;

import java.util.concurrent.atomic.AtomicLongArray;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts what others did wrong on their connections and logs the first of each kind, then one at every tenfold: whoever sends
 * garbage in a loop fills no disk. Safe for any thread.
 *
 * @param <F> the kinds of faults
 */
public final class FaultLog<F extends Enum<F>> {
    private static final Logger LOG = LoggerFactory.getLogger(FaultLog.class);

    private final AtomicLongArray counts;

    public FaultLog(Class<F> kinds) {
        this.counts = new AtomicLongArray(kinds.getEnumConstants().length);
    }

    /**
     * A connection was closed for it.
     *
     * @param whose connection, as the log names it
     */
    public void report(F fault, Object whose, String detail) {
        final long count = counts.incrementAndGet(fault.ordinal());
        if (isPowerOfTen(count)) {
            LOG.warn("Closed the connection of {}: {} ({} such so far)", whose, detail, count);
        }
    }

    public long count(F fault) {
        return counts.get(fault.ordinal());
    }

    private static boolean isPowerOfTen(long value) {
        long power = 1;
        while (power < value) {
            power *= 10;
        }
        return power == value;
    }
}
