package org.rowankv.protocol.frame;

import java.nio.ByteBuffer;

/**
 * Layout of the head of every frame that follows the handshake, at both ports. Little-endian.
 *
 * <pre>
 *   0       4        8      9      10       11      12      16       24
 *   +-------+--------+------+------+--------+-------+-------+--------+----//----+
 *   |  crc  | length | type | code | second | flags | small | number |   body   |
 *   +-------+--------+------+------+--------+-------+-------+--------+----//----+
 * </pre>
 *
 * <p>The length counts the whole frame. The crc is a CRC32C from the length on: over the whole frame between clients and
 * servers, over the head and 16 bytes more between servers ({@link WirePort}). What the other fields mean depends on the type;
 * those that a type does not use are zero.
 */
public final class FrameHeadDescriptor {
    public static final int CRC_OFFSET = 0;
    public static final int LENGTH_OFFSET = 4;
    public static final int TYPE_OFFSET = 8;
    static final int CODE_OFFSET = 9;
    static final int SECOND_OFFSET = 10;
    static final int FLAGS_OFFSET = 11;
    public static final int SMALL_OFFSET = 12;
    static final int NUMBER_OFFSET = 16;
    public static final int HEAD_LENGTH = 24;

    private FrameHeadDescriptor() {}

    /** Writes the head but its crc. */
    public static void write(
            ByteBuffer buffer, int at, int length, int type, int code, int second, int flags, int small, long number) {
        buffer.putInt(at + LENGTH_OFFSET, length);
        buffer.put(at + TYPE_OFFSET, (byte) type);
        buffer.put(at + CODE_OFFSET, (byte) code);
        buffer.put(at + SECOND_OFFSET, (byte) second);
        buffer.put(at + FLAGS_OFFSET, (byte) flags);
        buffer.putInt(at + SMALL_OFFSET, small);
        buffer.putLong(at + NUMBER_OFFSET, number);
    }

    /** Puts the crc of a frame of which so many bytes, those that it covers, are complete. */
    public static void seal(ByteBuffer buffer, int at, int covered, WireChecksum checksum) {
        buffer.putInt(at + CRC_OFFSET, crc(buffer, at, covered, checksum));
    }

    static int crc(ByteBuffer buffer, int at, int covered, WireChecksum checksum) {
        return checksum.of(buffer, at + LENGTH_OFFSET, covered - LENGTH_OFFSET);
    }

    public static int length(ByteBuffer buffer, int at) {
        return buffer.getInt(at + LENGTH_OFFSET);
    }

    public static int type(ByteBuffer buffer, int at) {
        return buffer.get(at + TYPE_OFFSET) & 0xff;
    }

    public static int code(ByteBuffer buffer, int at) {
        return buffer.get(at + CODE_OFFSET) & 0xff;
    }

    public static int second(ByteBuffer buffer, int at) {
        return buffer.get(at + SECOND_OFFSET) & 0xff;
    }

    public static int flags(ByteBuffer buffer, int at) {
        return buffer.get(at + FLAGS_OFFSET) & 0xff;
    }

    public static int small(ByteBuffer buffer, int at) {
        return buffer.getInt(at + SMALL_OFFSET);
    }

    public static long number(ByteBuffer buffer, int at) {
        return buffer.getLong(at + NUMBER_OFFSET);
    }
}
