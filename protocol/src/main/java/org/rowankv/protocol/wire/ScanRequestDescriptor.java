package org.rowankv.protocol.wire;

import java.nio.ByteBuffer;
import org.rowankv.protocol.frame.FrameHeadDescriptor;
import org.rowankv.protocol.frame.WireException;
import org.rowankv.protocol.frame.WireFault;

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
public final class ScanRequestDescriptor {
    static final int TERM_OFFSET = 24;
    static final int POSITION_OFFSET = 32;
    static final int CACHE_OFFSET = 40;
    static final int LIMIT_OFFSET = 44;
    static final int LENGTH = 48;
    static final int WITH_VALUES = 1;

    private ScanRequestDescriptor() {}

    public static void write(
            FrameEncoder out,
            long number,
            long term,
            int cacheId,
            int shard,
            long position,
            int limit,
            boolean values) {
        final int at = out.reserve(LENGTH);
        final ByteBuffer buffer = out.buffer();
        FrameHeadDescriptor.write(
                buffer, at, LENGTH, ClientFrameDescriptor.SCAN, 0, 0, values ? WITH_VALUES : 0, shard, number);
        buffer.putLong(at + TERM_OFFSET, term)
                .putLong(at + POSITION_OFFSET, position)
                .putInt(at + CACHE_OFFSET, cacheId)
                .putInt(at + LIMIT_OFFSET, limit);
        out.seal(at);
    }

    /** Fails if the frame is none of these. */
    public static void check(ByteBuffer buffer, int at, int length) throws WireException {
        ClientFrameDescriptor.requireLength(length, LENGTH);
        if (FrameHeadDescriptor.flags(buffer, at) > WITH_VALUES) {
            throw new WireException(WireFault.BAD_FRAME, "flags " + FrameHeadDescriptor.flags(buffer, at));
        }
    }

    public static long term(ByteBuffer buffer, int at) {
        return buffer.getLong(at + TERM_OFFSET);
    }

    public static int shard(ByteBuffer buffer, int at) {
        return FrameHeadDescriptor.small(buffer, at);
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
        return FrameHeadDescriptor.flags(buffer, at) == WITH_VALUES;
    }
}
