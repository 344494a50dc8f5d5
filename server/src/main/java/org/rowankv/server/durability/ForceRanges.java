package org.rowankv.server.durability;

/**
 * Ranges of an area that one force writes to the device. Touching and overlapping ranges merge; if there are too many,
 * their hull is kept, since forcing too much does no harm. For one thread at a time.
 */
public final class ForceRanges {
    private static final int MOST = 256;

    private final long[] starts = new long[MOST];
    private final long[] ends = new long[MOST];
    private int count;

    void add(long address, long length) {
        final long end = address + length;
        // The last ones first: a log grows at its end.
        for (int i = count - 1; i >= 0; i--) {
            if (address <= ends[i] && starts[i] <= end) {
                starts[i] = Math.min(starts[i], address);
                ends[i] = Math.max(ends[i], end);
                return;
            }
        }
        if (count == MOST) {
            keepHull();
            add(address, length);
            return;
        }
        starts[count] = address;
        ends[count] = end;
        count++;
    }

    private void keepHull() {
        for (int i = 1; i < count; i++) {
            starts[0] = Math.min(starts[0], starts[i]);
            ends[0] = Math.max(ends[0], ends[i]);
        }
        count = 1;
    }

    void clear() {
        count = 0;
    }

    public int count() {
        return count;
    }

    /** Address of the first byte of a range. */
    public long start(int range) {
        return starts[range];
    }

    /** Address after the last byte of a range. */
    public long end(int range) {
        return ends[range];
    }
}
