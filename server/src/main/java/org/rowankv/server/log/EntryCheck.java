package org.rowankv.server.log;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.MemoryRegion;
import org.rowankv.rdma.rowan.FrameChecksum;
import org.rowankv.rdma.rowan.FrameDescriptor;

/**
 * Says whether what lies at an address is a whole entry of the segment's present use. The scan, the digest, the cleaner
 * and the readers that distrust the memory ask the same question here. Owned by one thread.
 */
public final class EntryCheck {
    private final MemoryRegion region;
    private final FrameChecksum checksum = new FrameChecksum();

    public EntryCheck(MemoryRegion region) {
        this.region = region;
    }

    /**
     * @param segmentEnd the address behind the segment's last byte
     * @return null for a valid entry, otherwise the reason
     */
    public @Nullable String whyInvalid(long address, long segmentEnd, int generation) {
        final ByteBuffer buffer = region.buffer(address);
        final int at = region.offset(address);
        final int limit = (int) Math.min(buffer.capacity(), at + (segmentEnd - address));
        final String frame = FrameDescriptor.whyInvalid(buffer, at, limit, address, generation, checksum);
        if (frame != null) {
            return frame;
        }
        final long word = FrameDescriptor.wordPlain(buffer, at);
        final int length = FrameDescriptor.length(word);
        final boolean block = FrameDescriptor.type(word) == EntryType.BLOCK;
        final String malformed = block
                ? BlockDescriptor.whyMalformed(buffer, at, length)
                : EntryDescriptor.whyMalformed(buffer, at, length);
        if (malformed != null) {
            return malformed;
        }
        final int used = block
                ? BlockDescriptor.PAYLOAD_OFFSET + BlockDescriptor.payloadLength(buffer, at)
                : EntryDescriptor.usedLength(buffer, at);
        return FrameDescriptor.whyBodyInvalid(buffer, at, used - EntryDescriptor.FRAME_LENGTH, checksum);
    }

    /** The crc of bytes anywhere in a buffer. */
    public int crc(ByteBuffer buffer, int offset, int length) {
        return checksum.body(buffer, offset, length);
    }
}
