package org.rowankv.rdma.tcp;

import java.util.concurrent.atomic.AtomicLongArray;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts what peers did wrong and logs the first of each kind, then one at every tenfold: whoever sends garbage in a loop
 * fills no disk. Safe for any thread.
 */
final class FaultLog {
    private static final Logger LOG = LoggerFactory.getLogger(FaultLog.class);

    private final AtomicLongArray counts = new AtomicLongArray(WireFault.values().length);

    void report(WireFault fault, Object peer, String detail) {
        final long count = counts.incrementAndGet(fault.ordinal());
        if (isPowerOfTen(count)) {
            LOG.warn("Closed the connection of {}: {} ({} such so far)", peer, detail, count);
        }
    }

    long count(WireFault fault) {
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
