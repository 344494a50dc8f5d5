package org.rowankv.rdma.tcp.wire;

import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;

/**
 * Layout of every frame that follows the handshake. Little-endian.
 *
 * <pre>
 *   0       4        8      9       10     12      16       24       32       40
 *   +-------+--------+------+-------+------+-------+--------+--------+--------+----//----+
 *   |  crc  | length | type | flags | zero | small | number | first  | second | payload  |
 *   +-------+--------+------+-------+------+-------+--------+--------+--------+----//----+
 * </pre>
 *
 * <p>The length counts the whole frame. The crc is a CRC32C over the bytes 4 to 40. What the four fields mean depends on
 * the type; those that a type does not use are zero. No frame has type 2, 3 or 9.
 */
public final class WireDescriptor {
    public static final int CRC_OFFSET = 0;
    public static final int LENGTH_OFFSET = 4;
    static final int TYPE_OFFSET = 8;
    static final int FLAGS_OFFSET = 9;
    static final int ZERO_OFFSET = 10;
    public static final int SMALL_OFFSET = 12;
    static final int NUMBER_OFFSET = 16;
    static final int FIRST_OFFSET = 24;
    static final int SECOND_OFFSET = 32;
    public static final int HEADER_LENGTH = 40;

    /** number: sequence; small: tag; first: body crc; second: entry type; payload: the entry behind its frame. */
    public static final int SEND = 1;
    /** From now on this queue pair may land in the last posted segment too. */
    public static final int USE_RESERVE = 4;
    /** first: more bytes of credit that are wanted. */
    public static final int DRAW = 5;
    /** first: bytes of credit given back in all. */
    public static final int GIVE_BACK = 6;
    /** Nothing to say, but alive. */
    public static final int PING = 7;
    /** number: done up to this sequence; first: credit granted in all; second: credit asked for and answered in all. */
    public static final int ACK = 8;
    /**
     * number: acknowledged up to this sequence; first: credit granted in all; second: done up to this sequence, perhaps not
     * forced; nothing behind it ever will be.
     */
    public static final int FENCED = 10;
    /** number: sequence of the message; small: payload crc; payload: the message. */
    public static final int MESSAGE = 11;
    /** number: messages read so far. */
    public static final int MESSAGE_ACK = 12;
    /**
     * On a message link: number: a queue pair that is dead; first: the credit it has heard of in all; second: how much of
     * that it has given back in all.
     */
    public static final int SETTLE = 13;
    /** The answer: the same three numbers. Said to whoever says {@link #SETTLE}, also of a queue pair that nobody knows. */
    public static final int SETTLED = 14;

    /** In an ACK: no segment is posted that this queue pair may land in. */
    public static final int NOT_READY = 1;

    private WireDescriptor() {}

    /** Writes a header; the frame has that many bytes of payload. */
    public static void header(
            ByteBuffer buffer,
            int at,
            int type,
            int flags,
            int payload,
            int small,
            long number,
            long first,
            long second,
            WireChecksum checksum) {
        buffer.putInt(at + LENGTH_OFFSET, HEADER_LENGTH + payload);
        buffer.put(at + TYPE_OFFSET, (byte) type);
        buffer.put(at + FLAGS_OFFSET, (byte) flags);
        buffer.putShort(at + ZERO_OFFSET, (short) 0);
        buffer.putInt(at + SMALL_OFFSET, small);
        buffer.putLong(at + NUMBER_OFFSET, number);
        buffer.putLong(at + FIRST_OFFSET, first);
        buffer.putLong(at + SECOND_OFFSET, second);
        buffer.putInt(at + CRC_OFFSET, checksum.of(buffer, at + LENGTH_OFFSET, HEADER_LENGTH - LENGTH_OFFSET));
    }

    /** The same, appended to a buffer, its payload to follow. */
    public static void header(
            ByteBuf buffer,
            int type,
            int flags,
            int payload,
            int small,
            long number,
            long first,
            long second,
            WireChecksum checksum) {
        final int at = buffer.writerIndex();
        buffer.writeIntLE(0);
        buffer.writeIntLE(HEADER_LENGTH + payload);
        buffer.writeByte(type);
        buffer.writeByte(flags);
        buffer.writeShortLE(0);
        buffer.writeIntLE(small);
        buffer.writeLongLE(number);
        buffer.writeLongLE(first);
        buffer.writeLongLE(second);
        buffer.setIntLE(at + CRC_OFFSET, checksum.of(buffer, at + LENGTH_OFFSET, HEADER_LENGTH - LENGTH_OFFSET));
    }

    public static int length(ByteBuf buffer, int at) {
        return buffer.getIntLE(at + LENGTH_OFFSET);
    }

    public static int type(ByteBuf buffer, int at) {
        return buffer.getUnsignedByte(at + TYPE_OFFSET);
    }

    public static int flags(ByteBuf buffer, int at) {
        return buffer.getUnsignedByte(at + FLAGS_OFFSET);
    }

    public static int small(ByteBuf buffer, int at) {
        return buffer.getIntLE(at + SMALL_OFFSET);
    }

    public static long number(ByteBuf buffer, int at) {
        return buffer.getLongLE(at + NUMBER_OFFSET);
    }

    public static long first(ByteBuf buffer, int at) {
        return buffer.getLongLE(at + FIRST_OFFSET);
    }

    public static long second(ByteBuf buffer, int at) {
        return buffer.getLongLE(at + SECOND_OFFSET);
    }

    /**
     * The length of the frame whose header stands there, checked before anything is allocated for the rest.
     *
     * @param limits what this end accepts
     */
    static int checked(ByteBuf buffer, int at, FrameLimits limits, WireChecksum checksum) throws WireException {
        final int length = length(buffer, at);
        if (length < HEADER_LENGTH) {
            throw new WireException(WireFault.BAD_LENGTH, "length " + length);
        }
        final int crc = checksum.of(buffer, at + LENGTH_OFFSET, HEADER_LENGTH - LENGTH_OFFSET);
        if (crc != buffer.getIntLE(at + CRC_OFFSET)) {
            throw new WireException(WireFault.BAD_CHECKSUM, "of a header");
        }
        final int type = type(buffer, at);
        final int most = limits.mostPayload(type);
        if (most < 0 || buffer.getShortLE(at + ZERO_OFFSET) != 0) {
            throw new WireException(WireFault.BAD_FRAME, "type " + type);
        }
        if (length - HEADER_LENGTH > most) {
            throw new WireException(WireFault.BAD_LENGTH, "length " + length + " of a frame of type " + type);
        }
        return length;
    }

    /** Fails unless the payload of a whole frame is what its crc says. */
    public static void checkPayload(ByteBuf buffer, int at, int length, WireChecksum checksum) throws WireException {
        if (checksum.of(buffer, at + HEADER_LENGTH, length - HEADER_LENGTH) != small(buffer, at)) {
            throw new WireException(WireFault.BAD_CHECKSUM, "of the payload of a frame of type " + type(buffer, at));
        }
    }
}
