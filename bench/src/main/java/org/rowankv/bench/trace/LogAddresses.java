package org.rowankv.bench.trace;

import java.util.HashMap;
import java.util.Map;

/** Addresses in the logs of one server: each fills segments of 4 MiB, one after the other. */
final class LogAddresses {
    private static final long SEGMENT = 4L << 20;

    /** By log: the next address. */
    private final Map<Integer, Long> next = new HashMap<>();

    private long unused;

    /** @param base the first address; a multiple of the segment length */
    LogAddresses(long base) {
        this.unused = base;
    }

    long take(int log, int length) {
        final Long found = next.get(log);
        long at = found == null ? 0 : found;
        // At its end, or without room: an address at the end belongs to the following segment.
        if (found == null || at % SEGMENT == 0 || at % SEGMENT + length > SEGMENT) {
            at = unused;
            unused += SEGMENT;
        }
        next.put(log, at + length);
        return at;
    }
}
