package org.rowankv.protocol.wire;

import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.frame.FrameHeadDescriptor;
import org.rowankv.protocol.frame.WireException;
import org.rowankv.protocol.frame.WireFault;

/**
 * Layout of a page of a scan: the frame's head, then
 *
 * <pre>
 *   24              32
 *   +---------------+----------------------------------------------------------//-----+
 *   | next position | per object: version 8, key length 4, value length 4, key, value |
 *   +---------------+----------------------------------------------------------//-----+
 * </pre>
 *
 * <p>In the head, code: {@link Status}; flags: 1 if the shard holds nothing behind this page; small: the number of objects. A
 * value length of −1: no values were asked for; −2: the value is too long for this page, and must be read by its key.
 */
public final class PageDescriptor {
    static final int NEXT_OFFSET = 24;
    static final int FIXED_LENGTH = 32;
    static final int VERSION_OFFSET = 0;
    static final int KEY_LENGTH_OFFSET = 8;
    static final int VALUE_LENGTH_OFFSET = 12;
    /** Bytes of an object without its key and value. */
    public static final int OBJECT_LENGTH = 16;

    static final int LAST = 1;
    static final int NO_VALUE = -1;
    static final int OMITTED = -2;

    /** An object of a page; the receiver owns its arrays. */
    @SuppressWarnings("ArrayRecordComponent") // carries bytes, never compared
    public record PageObject(long version, byte[] key, byte @Nullable [] value, boolean omitted) {
        public long length() {
            final byte[] bytes = value;
            return (long) OBJECT_LENGTH + key.length + (bytes == null ? 0 : bytes.length);
        }
    }

    /** Takes the objects of a page. */
    @FunctionalInterface
    public interface Visitor {
        void onObject(long version, byte[] key, byte @Nullable [] value, boolean omitted);
    }

    private PageDescriptor() {}

    public static void write(FrameEncoder out, long number, Status status, List<PageObject> objects, long next) {
        int length = FIXED_LENGTH;
        for (PageObject object : objects) {
            length = Math.addExact(length, Math.toIntExact(object.length()));
        }
        final int at = out.reserve(length);
        final ByteBuffer buffer = out.buffer();
        FrameHeadDescriptor.write(
                buffer,
                at,
                length,
                ClientFrameDescriptor.PAGE,
                status.ordinal(),
                0,
                next == 0 ? LAST : 0,
                objects.size(),
                number);
        buffer.putLong(at + NEXT_OFFSET, next);
        int to = at + FIXED_LENGTH;
        for (PageObject object : objects) {
            final byte[] value = object.value();
            buffer.putLong(to + VERSION_OFFSET, object.version())
                    .putInt(to + KEY_LENGTH_OFFSET, object.key().length)
                    .putInt(
                            to + VALUE_LENGTH_OFFSET,
                            object.omitted() ? OMITTED : value == null ? NO_VALUE : value.length)
                    .put(to + OBJECT_LENGTH, object.key());
            to += OBJECT_LENGTH + object.key().length;
            if (value != null) {
                buffer.put(to, value);
                to += value.length;
            }
        }
        out.seal(at);
    }

    /** Throws if the frame is no page; checks all of it before passing any of it. */
    public static void check(ByteBuffer buffer, int at, int length) throws WireException {
        if (length < FIXED_LENGTH
                || FrameHeadDescriptor.code(buffer, at) >= Status.values().length
                || FrameHeadDescriptor.flags(buffer, at) > LAST
                || FrameHeadDescriptor.small(buffer, at) < 0) {
            throw new WireException(WireFault.BAD_FRAME, "a page of " + length + " bytes");
        }
        int left = length - FIXED_LENGTH;
        for (int i = FrameHeadDescriptor.small(buffer, at); i > 0; i--) {
            final int from = at + length - left;
            final int key = left < OBJECT_LENGTH ? -1 : buffer.getInt(from + KEY_LENGTH_OFFSET);
            final int value = left < OBJECT_LENGTH ? 0 : buffer.getInt(from + VALUE_LENGTH_OFFSET);
            if (key < 0 || value < OMITTED || key > left - OBJECT_LENGTH - Math.max(0, value)) {
                throw new WireException(WireFault.BAD_FRAME, "a page with an object that ends behind it");
            }
            left -= OBJECT_LENGTH + key + Math.max(0, value);
        }
        ClientFrameDescriptor.requireLength(length, length - left);
    }

    /** Of a page that was checked. */
    public static Status status(ByteBuffer buffer, int at) {
        return Status.of(FrameHeadDescriptor.code(buffer, at));
    }

    /** Of a page that was checked. */
    public static boolean isLast(ByteBuffer buffer, int at) {
        return FrameHeadDescriptor.flags(buffer, at) == LAST;
    }

    /** Of a page that was checked. */
    public static long next(ByteBuffer buffer, int at) {
        return buffer.getLong(at + NEXT_OFFSET);
    }

    /** Of a page that was checked. */
    public static void read(ByteBuffer buffer, int at, Visitor visitor) {
        int from = at + FIXED_LENGTH;
        for (int i = FrameHeadDescriptor.small(buffer, at); i > 0; i--) {
            final byte[] key = new byte[buffer.getInt(from + KEY_LENGTH_OFFSET)];
            final int valueLength = buffer.getInt(from + VALUE_LENGTH_OFFSET);
            final byte[] value = valueLength < 0 ? null : new byte[valueLength];
            buffer.get(from + OBJECT_LENGTH, key);
            final long version = buffer.getLong(from + VERSION_OFFSET);
            from += OBJECT_LENGTH + key.length;
            if (value != null) {
                buffer.get(from, value);
                from += valueLength;
            }
            visitor.onObject(version, key, value, valueLength == OMITTED);
        }
    }
}
