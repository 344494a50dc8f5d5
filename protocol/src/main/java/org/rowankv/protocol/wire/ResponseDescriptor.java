package org.rowankv.protocol.wire;

import java.nio.ByteBuffer;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.frame.FrameHeadDescriptor;
import org.rowankv.protocol.frame.WireException;
import org.rowankv.protocol.frame.WireFault;

/**
 * Layout of the answer to a request: the frame's head, then
 *
 * <pre>
 *   24        32                 40
 *   +---------+------------------+-----//-----+
 *   | version | previous version | result     |
 *   +---------+------------------+-----//-----+
 * </pre>
 *
 * <p>A read that asks for the end of the lifetime has it in place of a previous version.
 *
 * <p>In the head, code: {@link Status}; flags: 1 if there is a result, perhaps an empty one; small: result bits.
 */
public final class ResponseDescriptor {
    static final int VERSION_OFFSET = 24;
    static final int PREVIOUS_VERSION_OFFSET = 32;
    /** Bytes of an answer without its result. */
    public static final int FIXED_LENGTH = 40;

    static final int HAS_RESULT = 1;

    private static final int STATUS_COUNT = Status.values().length;

    private ResponseDescriptor() {}

    public static void write(FrameEncoder out, Request answered, long number) {
        final int result = Math.max(0, answered.resultLength());
        final int length = FIXED_LENGTH + result;
        final int at = out.reserve(length);
        final ByteBuffer buffer = out.buffer();
        FrameHeadDescriptor.write(
                buffer,
                at,
                length,
                ClientFrameDescriptor.ANSWER,
                answered.status().ordinal(),
                0,
                answered.resultLength() < 0 ? 0 : HAS_RESULT,
                answered.bits(),
                number);
        buffer.putLong(at + VERSION_OFFSET, answered.version())
                .putLong(at + PREVIOUS_VERSION_OFFSET, answered.previousVersion())
                .put(at + FIXED_LENGTH, answered.result(), 0, result);
        out.seal(at);
    }

    /** Throws if the frame is no response, before using any of it. */
    public static void check(ByteBuffer buffer, int at, int length) throws WireException {
        if (length < FIXED_LENGTH
                || FrameHeadDescriptor.code(buffer, at) >= STATUS_COUNT
                || FrameHeadDescriptor.flags(buffer, at) > HAS_RESULT
                || FrameHeadDescriptor.flags(buffer, at) == 0 && length != FIXED_LENGTH) {
            throw new WireException(
                    WireFault.BAD_FRAME,
                    "an answer of " + length + " bytes with status " + FrameHeadDescriptor.code(buffer, at));
        }
    }

    /** Reads a checked response. */
    public static void read(ByteBuffer buffer, int at, int length, Request into) {
        if (FrameHeadDescriptor.flags(buffer, at) == HAS_RESULT) {
            final int result = length - FIXED_LENGTH;
            buffer.get(at + FIXED_LENGTH, into.resultOf(result), 0, result);
        } else {
            into.noResult();
        }
        into.answer(
                Status.of(FrameHeadDescriptor.code(buffer, at)),
                FrameHeadDescriptor.small(buffer, at),
                buffer.getLong(at + VERSION_OFFSET),
                buffer.getLong(at + PREVIOUS_VERSION_OFFSET));
    }
}
