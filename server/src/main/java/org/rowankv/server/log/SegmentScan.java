package org.rowankv.server.log;

import java.nio.ByteBuffer;
import org.rowankv.rdma.MemoryRegion;
import org.rowankv.rdma.rowan.FrameDescriptor;

/**
 * Reads the entries of a segment without knowing where they are: from its start, entry after entry. Where there is none
 * it goes on stride by stride, since behind a place that a sender reserved and never filled others may have landed. What
 * lies inside a value cannot pass for an entry there: an entry's checksum covers its own address and the segment's
 * generation.
 */
public final class SegmentScan {
    /** Receives the valid entries of a scan, in the order of their addresses. */
    public interface Visitor {
        void onEntry(ByteBuffer buffer, int at, long address, int type, int length);

        /** A place that claims to be an entry of this use but is not valid. */
        void onInvalid(long address, String reason);

        /** A word that says: a place that is taken without an entry. It may as well be bytes of a value. */
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
    public int scan(long address, int length, int wantedGeneration, Visitor visitor) {
        begin(address, length, wantedGeneration);
        return advance(length, visitor);
    }

    /** Will read that segment, by {@link #advance}, from its start. What was begun before is forgotten. */
    public void begin(long address, int length, int wantedGeneration) {
        segmentAddress = address;
        segmentLength = length;
        generation = wantedGeneration;
        done = 0;
    }

    /**
     * Reads on, for about so many bytes: to the end of the entry that reaches beyond.
     *
     * @return bytes of the valid entries found
     */
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
