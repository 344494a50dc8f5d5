package org.rowankv.rdma.landing.wire;

import java.nio.ByteBuffer;
import org.rowankv.protocol.frame.FrameHeadDescriptor;
import org.rowankv.protocol.frame.WireChecksum;
import org.rowankv.protocol.frame.WireException;
import org.rowankv.protocol.frame.WireFault;

/**
 * The types of the frames between servers, and the layout of what all of them have behind the head of {@link FrameHeadDescriptor}.
 * Little-endian.
 *
 * <pre>
 *   24       32       40
 *   +--------+--------+----//----+
 *   | first  | second | payload  |
 *   +--------+--------+----//----+
 * </pre>
 *
 * <p>The head's crc covers the bytes 4 to 40. Its code and second byte are zero. No frame has type 2, 3 or 9.
 */
public final class PeerFrameDescriptor {
    static final int FIRST_OFFSET = FrameHeadDescriptor.HEAD_LENGTH;
    static final int SECOND_OFFSET = FIRST_OFFSET + Long.BYTES;
    /** Bytes of a frame without its payload. */
    public static final int HEAD_LENGTH = SECOND_OFFSET + Long.BYTES;

    /** number: sequence; small: tag; first: body crc; second: entry type; payload: the entry behind its frame. */
    public static final int SEND = 1;
    /** From now on this queue pair may land in the last posted segment too. */
    public static final int USE_RESERVE = 4;
    /** first: requested additional bytes of credit. */
    public static final int CREDIT_REQUEST = 5;
    /** first: bytes of credit returned in total. */
    public static final int CREDIT_RETURN = 6;
    /** A ping. */
    public static final int PING = 7;
    /**
     * number: done up to this sequence; first: credit granted in total; second: credit requested and answered in total.
     */
    public static final int ACK = 8;
    /**
     * number: acknowledged up to this sequence; first: credit granted in total; second: done up to this sequence,
     * perhaps not forced; no later operation will be done.
     */
    public static final int FENCED = 10;
    /** number: sequence of the message; small: payload crc; payload: the message. */
    public static final int MESSAGE = 11;
    /** number: messages read so far. */
    public static final int MESSAGE_ACK = 12;
    /**
     * On a message link: number: a dead queue pair; first: the credit it received in total; second: the credit it
     * returned in total.
     */
    public static final int SETTLE = 13;
    /** The response: the same three numbers. Sent for every {@link #SETTLE}, also of an unknown queue pair. */
    public static final int SETTLED = 14;

    /** Of a sender: first: leases that it wants since its connection began. */
    public static final int LEASE_REQUEST = 15;
    /**
     * number: ordinal in the lane, then the segment in 23 bits; first: address of the segment for WRITEs; second: its key in
     * the high half, the generation in the low one.
     */
    public static final int LEASE = 16;
    /** first: address of the sender's progress word; second: its key. The first leases are before it. */
    public static final int PROGRESS_WORD = 17;
    /**
     * Before FENCED: number: the connection whose WRITEs ended; first: the position up to which its entries have landed,
     * and beyond which none has or will: ordinal, then strides in 20 bits.
     */
    public static final int FENCED_AT = 18;

    /** In an ACK: no segment is posted that this queue pair may land in. */
    public static final int NOT_READY = 1;

    private PeerFrameDescriptor() {}

    /** Writes the head and the fields before the payload of that length. */
    public static void head(
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
        FrameHeadDescriptor.write(buffer, at, HEAD_LENGTH + payload, type, 0, 0, flags, small, number);
        buffer.putLong(at + FIRST_OFFSET, first);
        buffer.putLong(at + SECOND_OFFSET, second);
        FrameHeadDescriptor.seal(buffer, at, HEAD_LENGTH, checksum);
    }

    public static long first(ByteBuffer buffer, int at) {
        return buffer.getLong(at + FIRST_OFFSET);
    }

    public static long second(ByteBuffer buffer, int at) {
        return buffer.getLong(at + SECOND_OFFSET);
    }

    /** Throws unless the reserved fields of the head are zero. */
    static void checkZero(ByteBuffer buffer, int at) throws WireException {
        if (FrameHeadDescriptor.code(buffer, at) != 0 || FrameHeadDescriptor.second(buffer, at) != 0) {
            throw new WireException(WireFault.BAD_FRAME, "type " + FrameHeadDescriptor.type(buffer, at));
        }
    }

    /** Throws unless the payload of a complete frame matches its crc. */
    public static void checkPayload(ByteBuffer buffer, int at, int length, WireChecksum checksum) throws WireException {
        if (checksum.of(buffer, at + HEAD_LENGTH, length - HEAD_LENGTH) != FrameHeadDescriptor.small(buffer, at)) {
            throw new WireException(
                    WireFault.BAD_CHECKSUM,
                    "of the payload of a frame of type " + FrameHeadDescriptor.type(buffer, at));
        }
    }
}
