package org.rowankv.protocol.wire;

import java.nio.ByteBuffer;

/**
 * Layout of the head of every frame that follows the handshake. Little-endian.
 *
 * <pre>
 *   0       4        8      9      10       11      12      16       24
 *   +-------+--------+------+------+--------+-------+-------+--------+----//----+
 *   |  crc  | length | type | code | second | flags | small | number |   body   |
 *   +-------+--------+------+------+--------+-------+-------+--------+----//----+
 * </pre>
 *
 * <p>The length counts the whole frame. The crc is a CRC32C over everything behind it. The number correlates an answer with
 * what it answers: the asking end chooses it. What the other fields mean depends on the type.
 */
public final class FrameDescriptor {
    static final int CRC_OFFSET = 0;
    static final int LENGTH_OFFSET = 4;
    static final int TYPE_OFFSET = 8;
    static final int CODE_OFFSET = 9;
    static final int SECOND_OFFSET = 10;
    static final int FLAGS_OFFSET = 11;
    static final int SMALL_OFFSET = 12;
    static final int NUMBER_OFFSET = 16;
    public static final int HEAD_LENGTH = 24;

    /** From the client: {@link RequestDescriptor}. */
    public static final int REQUEST = 1;
    /** From the server: {@link AnswerDescriptor}. */
    public static final int ANSWER = 2;
    /** From the client: the routing, please. No body. */
    public static final int ROUTING_WANTED = 3;
    /** From the server: the routing, as an answer or, with the number 0, because it has changed. */
    public static final int ROUTING = 4;
    /** From the client: {@link ScanDescriptor}. */
    public static final int SCAN = 5;
    /** From the server: {@link PageDescriptor}. */
    public static final int PAGE = 6;
    /** From the client: {@link CatalogueDescriptor}; code: the operation. */
    public static final int CATALOGUE = 7;
    /** From the server: {@link CatalogueDescriptor}; code: a status. */
    public static final int CATALOGUE_ANSWER = 8;
    /** From the client: {@link ChangesWantedDescriptor}. */
    public static final int CHANGES_WANTED = 9;
    /** From the server: {@link ChangesDescriptor}. */
    public static final int CHANGES = 10;

    private FrameDescriptor() {}

    /** Writes the head but its crc. */
    static void head(
            ByteBuffer buffer, int at, int length, int type, int code, int second, int flags, int small, long number) {
        buffer.putInt(at + LENGTH_OFFSET, length);
        buffer.put(at + TYPE_OFFSET, (byte) type);
        buffer.put(at + CODE_OFFSET, (byte) code);
        buffer.put(at + SECOND_OFFSET, (byte) second);
        buffer.put(at + FLAGS_OFFSET, (byte) flags);
        buffer.putInt(at + SMALL_OFFSET, small);
        buffer.putLong(at + NUMBER_OFFSET, number);
    }

    /** Puts the crc of a frame that is otherwise complete. */
    static void seal(ByteBuffer buffer, int at, FrameChecksum checksum) {
        buffer.putInt(
                at + CRC_OFFSET,
                checksum.of(buffer, at + LENGTH_OFFSET, buffer.getInt(at + LENGTH_OFFSET) - LENGTH_OFFSET));
    }

    static int length(ByteBuffer buffer, int at) {
        return buffer.getInt(at + LENGTH_OFFSET);
    }

    public static int type(ByteBuffer buffer, int at) {
        return buffer.get(at + TYPE_OFFSET) & 0xff;
    }

    public static int code(ByteBuffer buffer, int at) {
        return buffer.get(at + CODE_OFFSET) & 0xff;
    }

    static int second(ByteBuffer buffer, int at) {
        return buffer.get(at + SECOND_OFFSET) & 0xff;
    }

    static int flags(ByteBuffer buffer, int at) {
        return buffer.get(at + FLAGS_OFFSET) & 0xff;
    }

    static int small(ByteBuffer buffer, int at) {
        return buffer.getInt(at + SMALL_OFFSET);
    }

    public static long number(ByteBuffer buffer, int at) {
        return buffer.getLong(at + NUMBER_OFFSET);
    }

    /** Fails unless a body that needs so many bytes has them, none more. */
    static void requireLength(int length, long needed) throws ProtocolException {
        if (length != needed) {
            throw new ProtocolException(ProtocolFault.BAD_FRAME, "of " + length + " bytes instead of " + needed);
        }
    }
}
