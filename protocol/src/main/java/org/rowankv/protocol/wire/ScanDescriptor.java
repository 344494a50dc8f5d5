package org.rowankv.protocol.wire;

import java.nio.ByteBuffer;

/**
 * Layout of the request for a page of a scan: the frame's head, then
 *
 * <pre>
 *   24     32         40         44      48
 *   +------+----------+----------+-------+
 *   | term | position | cache id | limit |
 *   +------+----------+----------+-------+
 * </pre>
 *
 * <p>In the head, flags: 1 with values; small: the shard.
 */
public final class ScanDescriptor {
    static final int TERM_OFFSET = 24;
    static final int POSITION_OFFSET = 32;
    static final int CACHE_OFFSET = 40;
    static final int LIMIT_OFFSET = 44;
    static final int LENGTH = 48;
    static final int WITH_VALUES = 1;

    private ScanDescriptor() {}

    public static void write(
            FrameWriter out, long number, long term, int cacheId, int shard, long position, int limit, boolean values) {
        final int at = out.reserve(LENGTH);
        final ByteBuffer buffer = out.buffer();
        FrameDescriptor.head(buffer, at, LENGTH, FrameDescriptor.SCAN, 0, 0, values ? WITH_VALUES : 0, shard, number);
        buffer.putLong(at + TERM_OFFSET, term)
                .putLong(at + POSITION_OFFSET, position)
                .putInt(at + CACHE_OFFSET, cacheId)
                .putInt(at + LIMIT_OFFSET, limit);
        out.seal(at);
    }

    /** Fails if the frame is none of these. */
    public static void check(ByteBuffer buffer, int at, int length) throws ProtocolException {
        FrameDescriptor.requireLength(length, LENGTH);
        if (FrameDescriptor.flags(buffer, at) > WITH_VALUES) {
            throw new ProtocolException(ProtocolFault.BAD_FRAME, "flags " + FrameDescriptor.flags(buffer, at));
        }
    }

    public static long term(ByteBuffer buffer, int at) {
        return buffer.getLong(at + TERM_OFFSET);
    }

    public static int shard(ByteBuffer buffer, int at) {
        return FrameDescriptor.small(buffer, at);
    }

    public static long position(ByteBuffer buffer, int at) {
        return buffer.getLong(at + POSITION_OFFSET);
    }

    public static int cacheId(ByteBuffer buffer, int at) {
        return buffer.getInt(at + CACHE_OFFSET);
    }

    public static int limit(ByteBuffer buffer, int at) {
        return buffer.getInt(at + LIMIT_OFFSET);
    }

    public static boolean withValues(ByteBuffer buffer, int at) {
        return FrameDescriptor.flags(buffer, at) == WITH_VALUES;
    }
}
