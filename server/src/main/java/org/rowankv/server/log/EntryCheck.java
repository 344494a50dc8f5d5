package org.rowankv.server.log;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.MemoryRegion;
import org.rowankv.rdma.rowan.FrameChecksum;
import org.rowankv.rdma.rowan.FrameDescriptor;

/**
 * The validity check of an entry in its segment's present use, shared by the scan, the digest, the cleaner and readers
 * that verify memory. Owned by one thread.
 */
public final class EntryCheck {
    private final MemoryRegion region;
    private final FrameChecksum checksum = new FrameChecksum();

    public EntryCheck(MemoryRegion region) {
        this.region = region;
    }

    /**
     * @param segmentEnd the address after the segment's last byte
     * @return null for a valid entry, otherwise the reason
     */
    public @Nullable String whyInvalid(long address, long segmentEnd, int generation) {
        final String frame = whyFrameInvalid(address, segmentEnd, generation);
        if (frame != null) {
            return frame;
        }
        final ByteBuffer buffer = region.buffer(address);
        final int at = region.offset(address);
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

    /** As {@link #whyInvalid}, for the frame's header alone: the body may be damaged. */
    public @Nullable String whyFrameInvalid(long address, long segmentEnd, int generation) {
        final ByteBuffer buffer = region.buffer(address);
        final int at = region.offset(address);
        final int limit = (int) Math.min(buffer.capacity(), at + (segmentEnd - address));
        return FrameDescriptor.whyInvalid(buffer, at, limit, address, generation, checksum);
    }

    /**
     * The length of an entry that an index or a session refers to. 0 if the frame's header is damaged: then neither
     * length nor type is meaningful, and the scrubber examines its segment.
     */
    public int soundLength(Segments segments, long address) {
        final int segment = segments.segmentOf(address);
        final int generation = segments.generation(segment);
        final long end = segments.area().addressOf(segment) + segments.length();
        if (whyFrameInvalid(address, end, generation) != null) {
            segments.damage().suspect(segment, generation);
            return 0;
        }
        return FrameDescriptor.length(FrameDescriptor.wordPlain(region.buffer(address), region.offset(address)));
    }

    /** Whether an entry that an index or a session refers to is valid. If not, the scrubber examines its segment. */
    public boolean isSound(Segments segments, long address) {
        final int segment = segments.segmentOf(address);
        final int generation = segments.generation(segment);
        final long end = segments.area().addressOf(segment) + segments.length();
        if (whyInvalid(address, end, generation) == null) {
            return true;
        }
        segments.damage().suspect(segment, generation);
        return false;
    }

    /** The type of the entry before one bit of its word flipped, or 0 if there was none. */
    public int typeBeforeAFlip(long address, long segmentEnd, int generation) {
        if (address > segmentEnd - FrameDescriptor.HEADER_LENGTH) {
            return 0;
        }
        return FrameDescriptor.type(FrameDescriptor.wordBeforeAFlip(
                region.buffer(address), region.offset(address), address, generation, checksum));
    }

    /** Marks a damaged entry as not needed at its address. It stays invalid. The caller flushes the frame's header. */
    public void writeOff(long address) {
        FrameDescriptor.writeOff(region.buffer(address), region.offset(address), address, checksum);
    }

    /** Whether an invalid entry has the mark of {@link #writeOff}. */
    public boolean isWrittenOff(long address) {
        return FrameDescriptor.isWrittenOff(region.buffer(address), region.offset(address), address, checksum);
    }

    /** The crc of bytes anywhere in a buffer. */
    public int crc(ByteBuffer buffer, int offset, int length) {
        return checksum.body(buffer, offset, length);
    }
}
