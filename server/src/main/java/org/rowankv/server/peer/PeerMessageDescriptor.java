package org.rowankv.server.peer;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * Layout of a message between the servers of a cluster, little endian.
 *
 * <pre>
 *   0  format version            1
 *   1  question                  1
 *   2  1: answer, 0: request     1
 *   3  zero                      1
 *   4  shard                     4
 *   8  term                      8
 *  16  number of the question    8
 *  24  argument                  8
 *  32  payload
 * </pre>
 *
 * <p>The sender numbers the requests of one start; the answer repeats number, question, shard and term.
 */
public final class PeerMessageDescriptor {
    static final int FORMAT_VERSION = 2;

    static final int VERSION_OFFSET = 0;
    static final int QUESTION_OFFSET = VERSION_OFFSET + Byte.BYTES;
    static final int ANSWER_OFFSET = QUESTION_OFFSET + Byte.BYTES;
    static final int ZERO_OFFSET = ANSWER_OFFSET + Byte.BYTES;
    static final int SHARD_OFFSET = ZERO_OFFSET + Byte.BYTES;
    static final int TERM_OFFSET = SHARD_OFFSET + Integer.BYTES;
    static final int NUMBER_OFFSET = TERM_OFFSET + Long.BYTES;
    static final int ARGUMENT_OFFSET = NUMBER_OFFSET + Long.BYTES;
    static final int HEADER_LENGTH = ARGUMENT_OFFSET + Long.BYTES;

    private PeerMessageDescriptor() {}

    /** Encodes a message; copies the payload from its position to its limit, which stay unchanged. */
    public static ByteBuffer write(
            int question, boolean answer, int shard, long term, long number, long argument, ByteBuffer payload) {
        final ByteBuffer message = ByteBuffer.allocate(HEADER_LENGTH + payload.remaining())
                .order(ByteOrder.LITTLE_ENDIAN)
                .put(VERSION_OFFSET, (byte) FORMAT_VERSION)
                .put(QUESTION_OFFSET, (byte) question)
                .put(ANSWER_OFFSET, (byte) (answer ? 1 : 0))
                .putInt(SHARD_OFFSET, shard)
                .putLong(TERM_OFFSET, term)
                .putLong(NUMBER_OFFSET, number)
                .putLong(ARGUMENT_OFFSET, argument);
        message.put(HEADER_LENGTH, payload, payload.position(), payload.remaining());
        return message;
    }

    /** Why the bytes are not a message of this version, or null. */
    static @Nullable String whyInvalid(ByteBuffer message) {
        if (message.limit() < HEADER_LENGTH) {
            return "a message of " + message.limit() + " bytes";
        }
        if (message.get(VERSION_OFFSET) != FORMAT_VERSION) {
            return "format version " + message.get(VERSION_OFFSET);
        }
        final int answer = message.get(ANSWER_OFFSET);
        return answer < 0 || answer > 1 || message.get(ZERO_OFFSET) != 0 ? "neither request nor answer" : null;
    }

    public static int question(ByteBuffer message) {
        return message.get(QUESTION_OFFSET);
    }

    public static boolean isAnswer(ByteBuffer message) {
        return message.get(ANSWER_OFFSET) == 1;
    }

    public static int shard(ByteBuffer message) {
        return message.getInt(SHARD_OFFSET);
    }

    public static long term(ByteBuffer message) {
        return message.getLong(TERM_OFFSET);
    }

    public static long number(ByteBuffer message) {
        return message.getLong(NUMBER_OFFSET);
    }

    public static long argument(ByteBuffer message) {
        return message.getLong(ARGUMENT_OFFSET);
    }

    /** Little endian, from 0 to its limit. */
    public static ByteBuffer payload(ByteBuffer message) {
        return message.slice(HEADER_LENGTH, message.limit() - HEADER_LENGTH).order(ByteOrder.LITTLE_ENDIAN);
    }
}
