package org.rowankv.server.durability;

import java.nio.MappedByteBuffer;

/**
 * Verbs that reach the device: a flush writes the range back and waits, so a drain is a no-op. On a DAX file this is a
 * cache-line write-back; on an ordinary file it is a system call of some 200 µs. Thread-safe.
 */
public final class DeviceVerbs implements DurabilityVerbs {
    private final MappedByteBuffer[] chunks;
    private final int chunkShift;

    public DeviceVerbs(MappedByteBuffer[] chunks, int chunkShift) {
        this.chunks = chunks.clone();
        this.chunkShift = chunkShift;
    }

    @Override
    public void flush(long address, long length) {
        long at = address;
        final long end = address + length;
        while (at < end) {
            final long chunkEnd = ((at >>> chunkShift) + 1) << chunkShift;
            final int piece = (int) (Math.min(end, chunkEnd) - at);
            chunks[(int) (at >>> chunkShift)].force((int) (at & ((1L << chunkShift) - 1)), piece);
            at += piece;
        }
    }

    @Override
    public void drain() {
        // Every flush has waited already.
    }

    /**
     * One write per chunk, of the hull of its ranges: the system writes only dirty pages, and each call costs a commit
     * of the file system, whatever its length.
     */
    public void force(ForceRanges ranges) {
        for (int chunk = 0; chunk < chunks.length; chunk++) {
            final long from = (long) chunk << chunkShift;
            final long to = from + chunks[chunk].capacity();
            long first = to;
            long last = from;
            for (int i = 0; i < ranges.count(); i++) {
                if (ranges.start(i) < to && ranges.end(i) > from) {
                    first = Math.min(first, Math.max(from, ranges.start(i)));
                    last = Math.max(last, Math.min(to, ranges.end(i)));
                }
            }
            if (first < last) {
                chunks[chunk].force((int) (first - from), (int) (last - first));
            }
        }
    }

    /** Forces everything, before the clean mark. */
    public void flushAll() {
        for (MappedByteBuffer chunk : chunks) {
            chunk.force();
        }
    }
}
