package org.rowankv.runtime;

import java.util.concurrent.atomic.AtomicLongArray;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counter and log of protocol faults of remote peers. It logs the first fault of each kind, then at 10, 100, 1000 …, and
 * after an hour without one. So a peer that sends garbage in a loop cannot fill the disk, and a fault after a year is
 * logged. Safe for any thread.
 *
 * @param <F> the kinds of faults
 */
public final class FaultLog<F extends Enum<F>> {
    private static final Logger LOG = LoggerFactory.getLogger(FaultLog.class);

    private final Clock clock;
    private final AtomicLongArray counts;
    /** Wall-clock milliseconds of the last fault; 0: none. */
    private final AtomicLongArray lastMs;

    public FaultLog(Class<F> kinds, Clock clock) {
        this.clock = clock;
        this.counts = new AtomicLongArray(kinds.getEnumConstants().length);
        this.lastMs = new AtomicLongArray(counts.length());
    }

    /**
     * Records that a connection was closed because of this fault.
     *
     * @param whose the connection's peer, as the log names it
     */
    public void report(F fault, Object whose, String detail) {
        final long count = counts.incrementAndGet(fault.ordinal());
        final long nowMs = clock.wallMs();
        final long before = lastMs.getAndSet(fault.ordinal(), nowMs);
        if (LogPace.isDue(count, before, nowMs)) {
            LOG.warn("ROWAN-5001 Closed the connection of {}: {} ({} such so far)", whose, detail, count);
        }
    }

    public long count(F fault) {
        return counts.get(fault.ordinal());
    }
}
