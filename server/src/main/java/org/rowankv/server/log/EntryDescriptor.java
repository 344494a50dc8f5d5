package org.rowankv.server.log;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.rowankv.protocol.ResultBits;

/**
 * Layout of the body of a log entry, which follows the 24-byte frame
 * ({@link org.rowankv.rdma.rowan.FrameDescriptor}). Little-endian; the same bytes on every replica.
 *
 * <pre>
 *   24               32      34      36       40        44           48
 *   +----------------+-------+-------+--------+---------+------------+--//--
 *   |    version     | flags | shard | cache  | key len | value len  | optional fields
 *   +----------------+-------+-------+--------+---------+------------+--//--
 *
 *   optional, in this order, present if the flag says so:
 *     REQUEST         session id (8), sequence (48 bits) | unanswered (16 bits)
 *     PREVIOUS        version of the object that the entry replaced or removed (8)
 *     EXPIRY          wall-clock milliseconds of the primary (8)
 *     OBJECT_VERSION  the object's version, where it is not the entry's own (8)
 *     OLD_VALUE       length of the old value (4), zero (4)
 *   key, value, old value; then zero or more bytes up to the next multiple of 64, unused
 * </pre>
 *
 * <p>The frame's bodyCrc covers [24, end of the old value). Lengths read from a mapping must be checked by
 * {@link #whyMalformed} before they are used to address anything.
 */
public final class EntryDescriptor {
    public static final int FRAME_LENGTH = 24;
    public static final int STRIDE = 64;

    private static final int VERSION_OFFSET = FRAME_LENGTH;
    private static final int FLAGS_OFFSET = VERSION_OFFSET + 8;
    private static final int SHARD_OFFSET = FLAGS_OFFSET + 2;
    private static final int CACHE_OFFSET = SHARD_OFFSET + 2;
    private static final int KEY_LENGTH_OFFSET = CACHE_OFFSET + 4;
    private static final int VALUE_LENGTH_OFFSET = KEY_LENGTH_OFFSET + 4;
    public static final int FIXED_LENGTH = VALUE_LENGTH_OFFSET + 4;

    public static final int HAS_REQUEST = 1;
    public static final int HAS_PREVIOUS = 1 << 1;
    public static final int HAS_EXPIRY = 1 << 2;
    public static final int HAS_OBJECT_VERSION = 1 << 3;
    public static final int HAS_OLD_VALUE = 1 << 4;
    /** No credit was acquired for the entry: it ends something, or replaces something at least as large. */
    public static final int WITHOUT_SPACE = 1 << 5;

    /** The flags above the presence bits hold the operation's {@link ResultBits}. */
    private static final int RESULT_BITS_SHIFT = 6;

    /** The value is a {@link org.rowankv.protocol.PartList}. One of the result bits. */
    public static final int IN_PARTS = ResultBits.IN_PARTS << RESULT_BITS_SHIFT;

    private static final int REQUEST_LENGTH = 16;
    private static final int UNANSWERED_BITS = 16;
    /** A session has at most this many operations in flight. */
    public static final int MAX_UNANSWERED = 512;

    public static final long MAX_SEQUENCE = (1L << 48) - 1;

    /** The longest header: everything present. */
    public static final int MAX_HEADER_LENGTH = FIXED_LENGTH + REQUEST_LENGTH + 8 + 8 + 8 + 8;

    static final VarHandle LONGS = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    static final VarHandle INTS = MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    static final VarHandle SHORTS = MethodHandles.byteBufferViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);

    private EntryDescriptor() {}

    /** A length rounded up to whole strides. */
    public static int aligned(int length) {
        return (length + STRIDE - 1) & -STRIDE;
    }

    public static int flags(int presence, int resultBits) {
        return presence | resultBits << RESULT_BITS_SHIFT;
    }

    public static int headerLength(int flags) {
        return FIXED_LENGTH
                + ((flags & HAS_REQUEST) << 4)
                + ((flags & HAS_PREVIOUS) << 2)
                + ((flags & HAS_EXPIRY) << 1)
                + (flags & HAS_OBJECT_VERSION)
                + ((flags & HAS_OLD_VALUE) >> 1);
    }

    // --- reading; `at` is the offset of the entry in its buffer ---

    public static long version(ByteBuffer buffer, int at) {
        return (long) LONGS.get(buffer, at + VERSION_OFFSET);
    }

    public static int flags(ByteBuffer buffer, int at) {
        return (short) SHORTS.get(buffer, at + FLAGS_OFFSET) & 0xffff;
    }

    public static int resultBits(int flags) {
        return flags >> RESULT_BITS_SHIFT;
    }

    public static int shard(ByteBuffer buffer, int at) {
        return (short) SHORTS.get(buffer, at + SHARD_OFFSET) & 0xffff;
    }

    public static int cacheId(ByteBuffer buffer, int at) {
        return (int) INTS.get(buffer, at + CACHE_OFFSET);
    }

    public static int keyLength(ByteBuffer buffer, int at) {
        return (int) INTS.get(buffer, at + KEY_LENGTH_OFFSET);
    }

    public static int valueLength(ByteBuffer buffer, int at) {
        return (int) INTS.get(buffer, at + VALUE_LENGTH_OFFSET);
    }

    public static long sessionId(ByteBuffer buffer, int at, int flags) {
        return (flags & HAS_REQUEST) == 0 ? 0 : (long) LONGS.get(buffer, at + FIXED_LENGTH);
    }

    public static long sequence(ByteBuffer buffer, int at, int flags) {
        return (flags & HAS_REQUEST) == 0 ? 0 : (long) LONGS.get(buffer, at + FIXED_LENGTH + 8) >>> UNANSWERED_BITS;
    }

    public static int unanswered(ByteBuffer buffer, int at, int flags) {
        return (flags & HAS_REQUEST) == 0 ? 0 : (short) SHORTS.get(buffer, at + FIXED_LENGTH + 8) & 0xffff;
    }

    private static int previousOffset(int flags) {
        return FIXED_LENGTH + ((flags & HAS_REQUEST) << 4);
    }

    private static int expiryOffset(int flags) {
        return previousOffset(flags) + ((flags & HAS_PREVIOUS) << 2);
    }

    private static int objectVersionOffset(int flags) {
        return expiryOffset(flags) + ((flags & HAS_EXPIRY) << 1);
    }

    private static int oldValueLengthOffset(int flags) {
        return objectVersionOffset(flags) + (flags & HAS_OBJECT_VERSION);
    }

    public static long previousVersion(ByteBuffer buffer, int at, int flags) {
        return (flags & HAS_PREVIOUS) == 0 ? 0 : (long) LONGS.get(buffer, at + previousOffset(flags));
    }

    /** Of a SESSION_CLOSE: the number of sessions that it ends. */
    public static int closedSessions(ByteBuffer buffer, int at) {
        return 1 + valueLength(buffer, at) / Long.BYTES;
    }

    /** Of a SESSION_CLOSE: the session of that number, from 0. */
    public static long closedSession(ByteBuffer buffer, int at, int number) {
        final int flags = flags(buffer, at);
        return number == 0
                ? sessionId(buffer, at, flags)
                : (long) LONGS.get(buffer, at + headerLength(flags) + (number - 1) * Long.BYTES);
    }

    /** Wall-clock milliseconds, or {@link Long#MAX_VALUE} for never. */
    public static long expiryMs(ByteBuffer buffer, int at, int flags) {
        return (flags & HAS_EXPIRY) == 0 ? Long.MAX_VALUE : (long) LONGS.get(buffer, at + expiryOffset(flags));
    }

    /** The version by which clients identify the object: the entry's own unless the entry is a touch. */
    public static long objectVersion(ByteBuffer buffer, int at, int flags) {
        return (long) LONGS.get(
                buffer, at + ((flags & HAS_OBJECT_VERSION) == 0 ? VERSION_OFFSET : objectVersionOffset(flags)));
    }

    public static int oldValueLength(ByteBuffer buffer, int at, int flags) {
        return (flags & HAS_OLD_VALUE) == 0 ? -1 : (int) INTS.get(buffer, at + oldValueLengthOffset(flags));
    }

    /** The entry's length without padding; only of an entry that is not {@link #whyMalformed malformed}. */
    public static int usedLength(ByteBuffer buffer, int at) {
        final int flags = flags(buffer, at);
        return headerLength(flags)
                + keyLength(buffer, at)
                + valueLength(buffer, at)
                + Math.max(0, oldValueLength(buffer, at, flags));
    }

    /** The reason why the lengths of an entry cannot be those of a body within a frame of that length, or null. */
    public static @org.jspecify.annotations.Nullable String whyMalformed(ByteBuffer buffer, int at, int frameLength) {
        if (frameLength < STRIDE) {
            return "frame of " + frameLength + " bytes";
        }
        final int flags = flags(buffer, at);
        final int headerLength = headerLength(flags);
        if (headerLength > frameLength) {
            return "header of " + headerLength + " bytes in a frame of " + frameLength;
        }
        final int keyLength = keyLength(buffer, at);
        final int valueLength = valueLength(buffer, at);
        final int oldLength = (flags & HAS_OLD_VALUE) == 0 ? 0 : oldValueLength(buffer, at, flags);
        if (keyLength < 0 || valueLength < 0 || oldLength < 0) {
            return "negative length: key " + keyLength + " value " + valueLength + " old value " + oldLength;
        }
        final long used = (long) headerLength + keyLength + valueLength + oldLength;
        if (used > frameLength || frameLength - used >= STRIDE) {
            return "lengths add up to " + used + " bytes in a frame of " + frameLength;
        }
        return null;
    }

    // --- writing the header; the caller writes key, value and old value behind it ---

    static void header(
            ByteBuffer buffer,
            int at,
            long version,
            int flags,
            int shard,
            int cacheId,
            int keyLength,
            int valueLength) {
        LONGS.set(buffer, at + VERSION_OFFSET, version);
        SHORTS.set(buffer, at + FLAGS_OFFSET, (short) flags);
        SHORTS.set(buffer, at + SHARD_OFFSET, (short) shard);
        INTS.set(buffer, at + CACHE_OFFSET, cacheId);
        INTS.set(buffer, at + KEY_LENGTH_OFFSET, keyLength);
        INTS.set(buffer, at + VALUE_LENGTH_OFFSET, valueLength);
    }

    static void request(ByteBuffer buffer, int at, long sessionId, long sequence, int unanswered) {
        LONGS.set(buffer, at + FIXED_LENGTH, sessionId);
        LONGS.set(buffer, at + FIXED_LENGTH + 8, sequence << UNANSWERED_BITS | unanswered);
    }

    static void previousVersion(ByteBuffer buffer, int at, int flags, long previousVersion) {
        LONGS.set(buffer, at + previousOffset(flags), previousVersion);
    }

    static void expiryMs(ByteBuffer buffer, int at, int flags, long expiryMs) {
        LONGS.set(buffer, at + expiryOffset(flags), expiryMs);
    }

    static void objectVersion(ByteBuffer buffer, int at, int flags, long objectVersion) {
        LONGS.set(buffer, at + objectVersionOffset(flags), objectVersion);
    }

    static void oldValueLength(ByteBuffer buffer, int at, int flags, int length) {
        LONGS.set(buffer, at + oldValueLengthOffset(flags), (long) length);
    }
}
