package org.rowankv.server.log;

import java.nio.ByteBuffer;
import org.rowankv.rdma.MemoryRegion;
import org.rowankv.rdma.rowan.FrameDescriptor;

/**
 * A scan for the entries of a segment at unknown addresses: from its start, entry after entry. Where there is none it
 * advances by a stride, since others may have landed after a place that a sender reserved and never filled. Bytes
 * inside a value cannot pass for an entry: an entry's checksum covers its own address and the segment's generation.
 */
public final class SegmentScan {
    /** Receives the valid entries of a scan, in the order of their addresses. */
    public interface Visitor {
        void onEntry(ByteBuffer buffer, int at, long address, int type, int length);

        /** A place that claims to be an entry of this use but is invalid. */
        void onInvalid(long address, String reason);

        /** A word of a place taken without an entry. It may as well be bytes of a value. */
        default void onPlace(long address, int length) {
            // Nothing is there.
        }
    }

    private final MemoryRegion region;
    private final EntryCheck check;
    private long segmentAddress;
    private int segmentLength;
    private int generation;
    private int done;

    public SegmentScan(MemoryRegion region) {
        this.region = region;
        this.check = new EntryCheck(region);
    }

    /** @return bytes of the valid entries found */
    public int scan(long address, int length, int expectedGeneration, Visitor visitor) {
        begin(address, length, expectedGeneration);
        return advance(length, visitor);
    }

    /** Starts reading that segment, by {@link #advance}, from its start. Discards earlier progress. */
    public void begin(long address, int length, int expectedGeneration) {
        segmentAddress = address;
        segmentLength = length;
        generation = expectedGeneration;
        done = 0;
    }

    /** Reads about so many bytes more: to the end of the entry that reaches beyond. */
    public int advance(int budget, Visitor visitor) {
        final ByteBuffer buffer = region.buffer(segmentAddress);
        final int start = region.offset(segmentAddress);
        final long end = segmentAddress + segmentLength;
        final int limit = (int) Math.min(segmentLength, (long) done + budget);
        int bytes = 0;
        while (done < limit) {
            final long word = FrameDescriptor.wordAcquire(buffer, start + done);
            if (FrameDescriptor.generation(word) != generation) {
                done += FrameDescriptor.STRIDE;
                continue;
            }
            final int type = FrameDescriptor.type(word);
            final long address = segmentAddress + done;
            final String reason = check.whyInvalid(address, end, generation);
            if (reason == null) {
                final int length = FrameDescriptor.length(word);
                visitor.onEntry(buffer, start + done, address, type, length);
                bytes += length;
                done += length;
            } else {
                if (FrameDescriptor.isEntryType(type)) {
                    visitor.onInvalid(address, reason);
                } else if (type == FrameDescriptor.RESERVED || type == FrameDescriptor.VOID) {
                    visitor.onPlace(address, FrameDescriptor.length(word));
                }
                // Reserved and void places included: whatever lies in them, the next entry has its own word.
                done += FrameDescriptor.STRIDE;
            }
        }
        return bytes;
    }

    /** Whether the segment was read to its end. */
    public boolean isDone() {
        return done >= segmentLength;
    }
}
