package org.rowankv.jdbc.table;

import org.rowankv.protocol.Request;

/**
 * How many entries are read together: first few, so that a LIMIT leaves little unused, then more, as far as the values that
 * were read last allow. So their bytes are bounded, but for those of the first few. Used by one session.
 */
final class ReadWindow {
    /** Of entries that are read or written together. */
    static final int MOST = 256;
    /** Of values that are read or written together. */
    static final long MOST_BYTES = 1 << 22;

    private static final int FIRST = 4;
    private static final int GROWTH = 4;

    private int size = FIRST;

    int size() {
        return size;
    }

    /** Begins with few. */
    void begin() {
        size = FIRST;
    }

    /** Notes what was read together. */
    void read(Iterable<Request> reads) {
        long bytes = 1;
        int count = 0;
        for (Request each : reads) {
            bytes += Math.max(0, each.resultLength());
            count++;
        }
        final long fitting = count == 0 ? MOST : Math.max(1, MOST_BYTES * count / bytes);
        size = (int) Math.min(Math.min(MOST, GROWTH * (long) size), fitting);
    }
}
