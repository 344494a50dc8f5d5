package org.rowankv.server.client;

import java.util.concurrent.atomic.AtomicLongArray;
import org.rowankv.protocol.wire.ProtocolFault;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts what clients did wrong and logs the first of each kind, then one at every tenfold: whoever sends garbage in a loop
 * fills no disk. For any thread.
 */
final class FaultCounts {
    private static final Logger LOG = LoggerFactory.getLogger(FaultCounts.class);

    private final AtomicLongArray counts = new AtomicLongArray(ProtocolFault.values().length);

    void report(ProtocolFault fault, Object client, String detail) {
        final long count = counts.incrementAndGet(fault.ordinal());
        if (isPowerOfTen(count)) {
            LOG.warn("Closed the connection of client {}: {} ({} such so far)", client, detail, count);
        }
    }

    long count(ProtocolFault fault) {
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
