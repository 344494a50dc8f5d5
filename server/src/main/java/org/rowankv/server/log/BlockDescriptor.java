package org.rowankv.server.log;

import java.nio.ByteBuffer;

/**
 * Layout of a block: a part of the body of an entry that is larger than the fabric's messages. (shard, version) names
 * the entry; every block repeats what is needed to put the entry together again. Follows the frame; little-endian.
 *
 * <pre>
 *   24        32      34      36      40           44              48                52         56      60
 *   +---------+-------+-------+-------+------------+---------------+-----------------+----------+-------+------+
 *   | version | flags | shard | zero  | body bytes | payload start | payload length  | body crc | count | type |
 *   +---------+-------+-------+-------+------------+---------------+-----------------+----------+-------+------+
 *   64 payload
 * </pre>
 *
 * <p>{@code body bytes} is the whole entry's used length without its frame; {@code payload start} counts from the start
 * of that body; {@code body crc} is the whole entry's; {@code type} is the whole entry's; {@code count} is the number of
 * blocks; of the flags only WITHOUT_SPACE is used, which is the whole entry's. The block's own frame carries a crc over [24, 64 + payload length).
 */
public final class BlockDescriptor {
    private static final int BODY_LENGTH_OFFSET = 40;
    private static final int START_OFFSET = 44;
    private static final int PAYLOAD_LENGTH_OFFSET = 48;
    private static final int BODY_CRC_OFFSET = 52;
    private static final int COUNT_OFFSET = 56;
    private static final int TYPE_OFFSET = 60;
    public static final int PAYLOAD_OFFSET = 64;

    private BlockDescriptor() {}

    public static int bodyLength(ByteBuffer buffer, int at) {
        return (int) EntryDescriptor.INTS.get(buffer, at + BODY_LENGTH_OFFSET);
    }

    public static int payloadStart(ByteBuffer buffer, int at) {
        return (int) EntryDescriptor.INTS.get(buffer, at + START_OFFSET);
    }

    public static int payloadLength(ByteBuffer buffer, int at) {
        return (int) EntryDescriptor.INTS.get(buffer, at + PAYLOAD_LENGTH_OFFSET);
    }

    public static int bodyCrc(ByteBuffer buffer, int at) {
        return (int) EntryDescriptor.INTS.get(buffer, at + BODY_CRC_OFFSET);
    }

    public static int entryType(ByteBuffer buffer, int at) {
        return (int) EntryDescriptor.INTS.get(buffer, at + TYPE_OFFSET);
    }

    /** The reason why a block's fields cannot be right within a frame of that length, or null. */
    public static @org.jspecify.annotations.Nullable String whyMalformed(ByteBuffer buffer, int at, int frameLength) {
        if (frameLength < PAYLOAD_OFFSET) {
            return "block frame of " + frameLength + " bytes";
        }
        final int payload = payloadLength(buffer, at);
        final int start = payloadStart(buffer, at);
        final int body = bodyLength(buffer, at);
        if (payload <= 0 || start < 0 || body <= 0 || (long) start + payload > body) {
            return "block of body bytes " + start + " + " + payload + " of " + body;
        }
        if (EntryDescriptor.aligned(PAYLOAD_OFFSET + payload) != frameLength) {
            return "payload of " + payload + " bytes in a frame of " + frameLength;
        }
        return null;
    }

    /** Writes the header of a block; the payload is the caller's. */
    public static void header(
            ByteBuffer buffer,
            int at,
            long version,
            int flags,
            int shard,
            int bodyLength,
            int start,
            int payloadLength,
            int bodyCrc,
            int blockCount,
            int entryType) {
        EntryDescriptor.header(buffer, at, version, flags, shard, 0, bodyLength, start);
        EntryDescriptor.INTS.set(buffer, at + PAYLOAD_LENGTH_OFFSET, payloadLength);
        EntryDescriptor.INTS.set(buffer, at + BODY_CRC_OFFSET, bodyCrc);
        EntryDescriptor.INTS.set(buffer, at + COUNT_OFFSET, blockCount);
        EntryDescriptor.INTS.set(buffer, at + TYPE_OFFSET, entryType);
    }
}
