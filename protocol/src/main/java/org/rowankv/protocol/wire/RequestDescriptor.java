package org.rowankv.protocol.wire;

import java.nio.ByteBuffer;
import org.rowankv.protocol.Condition;
import org.rowankv.protocol.Operation;
import org.rowankv.protocol.PartList;
import org.rowankv.protocol.Parts;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Ttl;
import org.rowankv.protocol.frame.FrameHeadDescriptor;
import org.rowankv.protocol.frame.WireException;
import org.rowankv.protocol.frame.WireFault;

/**
 * Layout of a request: the frame's head, then
 *
 * <pre>
 *   24     32         40         48         56           64           72           80
 *   +------+----------+----------+----------+------------+------------+------------+
 *   | term | session  | sequence | expected | create ttl | update ttl | access ttl |
 *   +------+----------+----------+----------+------------+------------+------------+
 *   80         84           88           92             96
 *   +----------+------------+------------+--------------+-----//----+-----//------+
 *   | cache id | unanswered | key length | value length | key       | value       |
 *   +----------+------------+------------+--------------+-----//----+-----//------+
 * </pre>
 *
 * <p>In the head, code: {@link Operation}; second: {@link Condition}; flags: 1 if a value is needed, 2 if
 * the value is a {@link PartList}, 4 if the end of the lifetime is needed; small: the shard. The
 * key's hash does not travel: the server computes it, so that no client can put a key where it does not belong.
 */
public final class RequestDescriptor {
    static final int TERM_OFFSET = 24;
    static final int SESSION_OFFSET = 32;
    static final int SEQUENCE_OFFSET = 40;
    static final int EXPECTED_VERSION_OFFSET = 48;
    static final int CREATE_TTL_OFFSET = 56;
    static final int UPDATE_TTL_OFFSET = 64;
    static final int ACCESS_TTL_OFFSET = 72;
    static final int CACHE_OFFSET = 80;
    static final int UNANSWERED_OFFSET = 84;
    static final int KEY_LENGTH_OFFSET = 88;
    static final int VALUE_LENGTH_OFFSET = 92;
    /** Bytes of a request without its key and value. */
    public static final int FIXED_LENGTH = 96;

    static final int NEEDS_VALUE = 1;
    static final int IN_PARTS = 2;
    static final int NEEDS_EXPIRY = 4;
    private static final int FLAGS = NEEDS_VALUE | IN_PARTS | NEEDS_EXPIRY;
    static final int MAX_UNANSWERED = 511;
    /** What a log entry holds of it. */
    static final long MAX_SEQUENCE = (1L << 48) - 1;

    private static final Operation[] OPERATIONS = Operation.values();
    private static final Condition[] CONDITIONS = Condition.values();

    private RequestDescriptor() {}

    /** How long the frame is. */
    public static long lengthOf(Request request) {
        return (long) FIXED_LENGTH + request.keyLength() + request.valueLength();
    }

    public static void write(FrameEncoder out, Request request, long number, long term) {
        final int length = Math.toIntExact(lengthOf(request));
        final int at = out.reserve(length);
        final ByteBuffer buffer = out.buffer();
        FrameHeadDescriptor.write(
                buffer,
                at,
                length,
                ClientFrameDescriptor.REQUEST,
                request.operation().ordinal(),
                request.condition().ordinal(),
                flagsOf(request),
                request.shard(),
                number);
        buffer.putLong(at + TERM_OFFSET, term)
                .putLong(at + SESSION_OFFSET, request.sessionId())
                .putLong(at + SEQUENCE_OFFSET, request.sequence())
                .putLong(at + EXPECTED_VERSION_OFFSET, request.expectedVersion())
                .putLong(at + CREATE_TTL_OFFSET, request.createTtlMs())
                .putLong(at + UPDATE_TTL_OFFSET, request.updateTtlMs())
                .putLong(at + ACCESS_TTL_OFFSET, request.accessTtlMs())
                .putInt(at + CACHE_OFFSET, request.cacheId())
                .putInt(at + UNANSWERED_OFFSET, request.unanswered())
                .putInt(at + KEY_LENGTH_OFFSET, request.keyLength())
                .putInt(at + VALUE_LENGTH_OFFSET, request.valueLength())
                .put(at + FIXED_LENGTH, request.key(), request.keyOffset(), request.keyLength())
                .put(
                        at + FIXED_LENGTH + request.keyLength(),
                        request.value(),
                        request.valueOffset(),
                        request.valueLength());
        out.seal(at);
    }

    private static int flagsOf(Request request) {
        return (request.needsValue() ? NEEDS_VALUE : 0)
                | (request.isInParts() ? IN_PARTS : 0)
                | (request.needsExpiry() ? NEEDS_EXPIRY : 0);
    }

    public static long term(ByteBuffer buffer, int at) {
        return buffer.getLong(at + TERM_OFFSET);
    }

    public static int shard(ByteBuffer buffer, int at) {
        return FrameHeadDescriptor.small(buffer, at);
    }

    /** Bytes of key and value, for {@link #read}; throws if the frame is no request. */
    public static int bodyLength(ByteBuffer buffer, int at, int length) throws WireException {
        if (length < FIXED_LENGTH) {
            throw new WireException(WireFault.BAD_FRAME, "a request of " + length + " bytes");
        }
        final int key = buffer.getInt(at + KEY_LENGTH_OFFSET);
        final int value = buffer.getInt(at + VALUE_LENGTH_OFFSET);
        if (key < 0 || value < 0) {
            throw new WireException(WireFault.BAD_FRAME, "key of " + key + ", value of " + value + " bytes");
        }
        ClientFrameDescriptor.requireLength(length, (long) FIXED_LENGTH + key + value);
        if (FrameHeadDescriptor.code(buffer, at) >= OPERATIONS.length
                || FrameHeadDescriptor.second(buffer, at) >= CONDITIONS.length
                || FrameHeadDescriptor.flags(buffer, at) > FLAGS) {
            throw new WireException(
                    WireFault.BAD_FRAME,
                    "operation " + FrameHeadDescriptor.code(buffer, at) + ", condition "
                            + FrameHeadDescriptor.second(buffer, at) + ", flags "
                            + FrameHeadDescriptor.flags(buffer, at));
        }
        return key + value;
    }

    /**
     * Reads a request that {@link #bodyLength} accepted; copies key and value into the array, which has space for them.
     *
     * @return whether the request is valid. If not it must not be executed
     */
    public static boolean read(ByteBuffer buffer, int at, Request into, byte[] body) {
        final int keyLength = buffer.getInt(at + KEY_LENGTH_OFFSET);
        final int valueLength = buffer.getInt(at + VALUE_LENGTH_OFFSET);
        final int cacheId = buffer.getInt(at + CACHE_OFFSET);
        final int shard = FrameHeadDescriptor.small(buffer, at);
        final long session = buffer.getLong(at + SESSION_OFFSET);
        buffer.get(at + FIXED_LENGTH, body, 0, keyLength + valueLength);
        final Operation operation = OPERATIONS[FrameHeadDescriptor.code(buffer, at)];
        switch (operation) {
            case GET -> into.get(cacheId, body, 0, keyLength);
            case PUT -> into.put(cacheId, body, 0, keyLength, body, keyLength, valueLength);
            case DELETE -> into.delete(cacheId, body, 0, keyLength);
            case TOUCH -> into.touch(cacheId, body, 0, keyLength, 0, 0);
            case CLEAR -> into.clear(cacheId, shard);
            case OPEN_SESSION -> into.openSession(shard, session, buffer.getLong(at + EXPECTED_VERSION_OFFSET));
            case CLOSE_SESSION -> into.closeSession(shard, session);
        }
        final boolean keyed = operation != Operation.CLEAR && into.sessionId() == 0;
        final Condition condition = CONDITIONS[FrameHeadDescriptor.second(buffer, at)];
        final long createTtl = buffer.getLong(at + CREATE_TTL_OFFSET);
        final long updateTtl = buffer.getLong(at + UPDATE_TTL_OFFSET);
        final long accessTtl = buffer.getLong(at + ACCESS_TTL_OFFSET);
        final long sequence = buffer.getLong(at + SEQUENCE_OFFSET);
        final int unanswered = buffer.getInt(at + UNANSWERED_OFFSET);
        into.when(condition, buffer.getLong(at + EXPECTED_VERSION_OFFSET))
                .ttl(createTtl, updateTtl)
                .accessTtl(accessTtl)
                .requestValue((FrameHeadDescriptor.flags(buffer, at) & NEEDS_VALUE) != 0)
                .inParts((FrameHeadDescriptor.flags(buffer, at) & IN_PARTS) != 0)
                .requestExpiry((FrameHeadDescriptor.flags(buffer, at) & NEEDS_EXPIRY) != 0);
        if (operation.isMutation()) {
            into.identified(session, sequence, unanswered);
        }
        final boolean isIdentified = operation == Operation.GET || session != 0;
        final boolean isCounted = !operation.isMutation()
                || sequence > 0
                        && sequence <= MAX_SEQUENCE
                        && unanswered >= 0
                        && unanswered <= MAX_UNANSWERED
                        && unanswered < sequence;
        // Only a catalogue destroys caches, and it does so with a CLEAR that has a value.
        final boolean hasItsBytes = (keyed || keyLength == 0) && (operation == Operation.PUT || valueLength == 0);
        final boolean hasConditionItCanHave = keyed && operation != Operation.GET || condition == Condition.ALWAYS;
        return isIdentified
                && hasPartsItCanHave(into)
                && (operation == Operation.GET || !into.needsExpiry())
                && isCounted
                && hasItsBytes
                && hasConditionItCanHave
                && (cacheId > 0 || operation == Operation.OPEN_SESSION || operation == Operation.CLOSE_SESSION)
                && Ttl.whyInvalid(createTtl) == null
                && Ttl.whyInvalid(updateTtl) == null
                && Ttl.whyInvalid(accessTtl) == null;
    }

    /** A clear names the cache itself; a part has a part's key, and is never in parts. */
    private static boolean hasPartsItCanHave(Request request) {
        if (Parts.isParts(request.cacheId())) {
            return request.operation() != Operation.CLEAR
                    && request.keyLength() == Parts.KEY_LENGTH
                    && !request.isInParts();
        }
        return !request.isInParts()
                || request.operation() == Operation.PUT
                        && PartList.read(request.value(), request.valueOffset(), request.valueLength()) != null;
    }
}
