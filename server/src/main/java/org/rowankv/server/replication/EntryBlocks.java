package org.rowankv.server.replication;

import java.nio.ByteBuffer;
import org.rowankv.rdma.MemoryRegion;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.runtime.AlignedBuffers;
import org.rowankv.server.log.BlockDescriptor;
import org.rowankv.server.log.Charge;
import org.rowankv.server.log.EntryCheck;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryType;

/** The blocks in which an entry is sent that is larger than the fabric's messages, and their space. One thread. */
final class EntryBlocks {
    private final MemoryRegion region;
    private final int maxMessage;
    private final int segmentLength;
    private final int perBlock;
    private final EntryCheck check;
    private final ByteBuffer staging;

    /** @param segmentLength of the backups' areas */
    EntryBlocks(MemoryRegion region, int maxMessage, int segmentLength) {
        this.region = region;
        this.maxMessage = maxMessage;
        this.segmentLength = segmentLength;
        this.perBlock = maxMessage - BlockDescriptor.PAYLOAD_OFFSET;
        this.check = new EntryCheck(region);
        this.staging = AlignedBuffers.allocate(maxMessage, EntryDescriptor.STRIDE);
    }

    /** Bytes of an entry's body in each block but the last. */
    int perBlock() {
        return perBlock;
    }

    /** The last block written, from offset 0. */
    ByteBuffer block() {
        return staging;
    }

    /**
     * Writes the block of an entry's body from {@code start}.
     *
     * @param bodyLength of the whole entry
     * @return the block's length
     */
    int write(long address, int shard, int bodyLength, int start, int payload) {
        final ByteBuffer entry = region.buffer(address);
        final int at = region.offset(address);
        BlockDescriptor.header(
                staging,
                0,
                EntryDescriptor.version(entry, at),
                EntryDescriptor.flags(entry, at) & EntryDescriptor.WITHOUT_SPACE,
                shard,
                bodyLength,
                start,
                payload,
                FrameDescriptor.bodyCrc(entry, at),
                (bodyLength + perBlock - 1) / perBlock,
                FrameDescriptor.type(FrameDescriptor.wordPlain(entry, at)));
        staging.put(BlockDescriptor.PAYLOAD_OFFSET, entry, at + EntryDescriptor.FRAME_LENGTH + start, payload);
        final int used = BlockDescriptor.PAYLOAD_OFFSET + payload;
        final int crc = check.crc(staging, EntryDescriptor.FRAME_LENGTH, used - EntryDescriptor.FRAME_LENGTH);
        final int blockLength = EntryDescriptor.aligned(used);
        FrameDescriptor.source(staging, 0, blockLength, EntryType.BLOCK, crc);
        return blockLength;
    }

    /** The space of all blocks of an entry at a backup. */
    long credit(int usedLength) {
        final int body = usedLength - EntryDescriptor.FRAME_LENGTH;
        final int fullBlocks = body / perBlock;
        final int rest = body % perBlock;
        final int lastBlock = rest == 0 ? 0 : EntryDescriptor.aligned(BlockDescriptor.PAYLOAD_OFFSET + rest);
        return (long) fullBlocks * Charge.of(maxMessage, segmentLength)
                + (rest == 0 ? 0 : Charge.of(lastBlock, segmentLength));
    }
}
