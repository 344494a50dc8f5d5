package org.rowankv.server.checkpoint;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/**
 * Layout of the image of a shard's index, little endian: blocks, one behind the other.
 *
 * <pre>
 *    0  checksum, CRC32C of whose image it is, then of 4 .. end of the block     4
 *    4  length of what follows the header                                        4
 *    8  kind: ITEMS, or LIVE, which comes last                                   4
 *   12  ordinal of the block                                                     4
 *   16  ITEMS: groups of items, a bucket each: expiry bound 4, count 4; per item: item 8, version 8
 *       LIVE:  per segment and cache: segment 4, cache 4, number of items in it 4, charge of those 4
 * </pre>
 */
final class ImageDescriptor {
    static final int ITEMS = 1;
    static final int LIVE = 2;

    static final int HEADER_LENGTH = 16;
    static final int MAX_PAYLOAD = 256 << 10;
    static final int GROUP_LENGTH = 8;
    static final int ITEM_LENGTH = 16;
    static final int LIVE_LENGTH = 16;

    private static final int LENGTH_OFFSET = 4;
    private static final int KIND_OFFSET = 8;
    private static final int ORDINAL_OFFSET = 12;

    private ImageDescriptor() {}

    static ByteBuffer block() {
        return ByteBuffer.allocateDirect(HEADER_LENGTH + MAX_PAYLOAD).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Ends a block whose payload reaches to the buffer's position, and prepares it for writing. */
    static void seal(ByteBuffer block, int kind, int ordinal, long areaId, int shard, long number) {
        block.putInt(LENGTH_OFFSET, block.position() - HEADER_LENGTH);
        block.putInt(KIND_OFFSET, kind);
        block.putInt(ORDINAL_OFFSET, ordinal);
        block.flip();
        block.putInt(0, checksum(block, areaId, shard, number));
    }

    /** Length of the payload, or −1 when that is impossible. */
    static int payloadLength(ByteBuffer block) {
        final int length = block.getInt(LENGTH_OFFSET);
        return length >= 0 && length <= MAX_PAYLOAD ? length : -1;
    }

    static int kind(ByteBuffer block) {
        return block.getInt(KIND_OFFSET);
    }

    /** Whether a block from 0 to the buffer's limit is intact, and the expected one. */
    static boolean isValid(ByteBuffer block, int ordinal, long areaId, int shard, long number) {
        return block.getInt(ORDINAL_OFFSET) == ordinal && block.getInt(0) == checksum(block, areaId, shard, number);
    }

    private static int checksum(ByteBuffer block, long areaId, int shard, long number) {
        final ByteBuffer whose = ByteBuffer.allocate(20).order(ByteOrder.LITTLE_ENDIAN);
        whose.putLong(areaId).putInt(shard).putLong(number).flip();
        final CRC32C crc = new CRC32C();
        crc.update(whose);
        crc.update(block.duplicate().position(LENGTH_OFFSET));
        return (int) crc.getValue();
    }
}
