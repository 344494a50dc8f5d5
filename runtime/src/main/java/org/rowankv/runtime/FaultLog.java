package org.rowankv.runtime;

import java.util.concurrent.atomic.AtomicLongArray;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counter and log of protocol faults of remote peers. It logs the first fault of each kind, then at 10, 100, 1000 …. So
 * a peer that sends garbage in a loop cannot fill the disk. Safe for any thread.
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
     * Records that a connection was closed because of this fault.
     *
     * @param whose the connection's peer, as the log names it
     */
    public void report(F fault, Object whose, String detail) {
        final long count = counts.incrementAndGet(fault.ordinal());
        if (isPowerOfTen(count)) {
            LOG.warn("ROWAN-5001 Closed the connection of {}: {} ({} such so far)", whose, detail, count);
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
