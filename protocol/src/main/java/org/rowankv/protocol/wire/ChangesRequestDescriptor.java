package org.rowankv.protocol.wire;

import java.nio.ByteBuffer;
import org.rowankv.protocol.frame.FrameHeadDescriptor;
import org.rowankv.protocol.frame.WireException;
import org.rowankv.protocol.frame.WireFault;

/**
 * Layout of the request for changes: the frame's head, then
 *
 * <pre>
 *   24     32        36     40
 *   +------+---------+------+--------------------------------------------------------------//--+
 *   | term | wait ms | zero | per section: position 8, cache id 4, shard 4, flags 4, zero 4 ...  |
 *   +------+---------+------+--------------------------------------------------------------//--+
 * </pre>
 *
 * <p>In the head, small: the number of sections, perhaps none. A position of −1: from now on. Flags of a section: 1 with old
 * values. The server responds when there are changes, when the time to wait is over, or when the same connection
 * sends another one: a connection has at most one such request in flight.
 */
public final class ChangesRequestDescriptor {
    static final int TERM_OFFSET = 24;
    static final int WAIT_OFFSET = 32;
    static final int ZERO_OFFSET = 36;
    static final int FIXED_LENGTH = 40;
    static final int POSITION_OFFSET = 0;
    static final int CACHE_OFFSET = 8;
    static final int SHARD_OFFSET = 12;
    static final int FLAGS_OFFSET = 16;
    static final int SECTION_ZERO_OFFSET = 20;
    static final int SECTION_LENGTH = 24;
    static final int OLD_VALUES = 1;

    /** Position of a subscriber without deliveries, which starts now. */
    public static final long FROM_NOW = -1;

    public static final int MAX_SECTIONS = 1 << 14;
    /** Of a frame with so many. */
    public static final int MAX_LENGTH = FIXED_LENGTH + MAX_SECTIONS * SECTION_LENGTH;

    /** Limit of the time to wait. */
    public static final int MAX_WAIT_MS = 10_000;

    private ChangesRequestDescriptor() {}

    /** Begins a question with so many sections, of which every one is to be {@link #section put}; returns where it begins. */
    public static int begin(FrameEncoder out, long number, long term, int waitMs, int sections) {
        final int length = FIXED_LENGTH + sections * SECTION_LENGTH;
        final int at = out.reserve(length);
        final ByteBuffer buffer = out.buffer();
        FrameHeadDescriptor.write(buffer, at, length, ClientFrameDescriptor.CHANGES_REQUEST, 0, 0, 0, sections, number);
        buffer.putLong(at + TERM_OFFSET, term).putInt(at + WAIT_OFFSET, waitMs).putInt(at + ZERO_OFFSET, 0);
        return at;
    }

    public static void section(
            FrameEncoder out, int at, int index, long position, int cacheId, int shard, boolean oldValues) {
        final int to = at + FIXED_LENGTH + index * SECTION_LENGTH;
        out.buffer()
                .putLong(to + POSITION_OFFSET, position)
                .putInt(to + CACHE_OFFSET, cacheId)
                .putInt(to + SHARD_OFFSET, shard)
                .putInt(to + FLAGS_OFFSET, oldValues ? OLD_VALUES : 0)
                .putInt(to + SECTION_ZERO_OFFSET, 0);
    }

    public static void end(FrameEncoder out, int at) {
        out.seal(at);
    }

    /** Throws if the frame is no such request, before using any of it. */
    public static void check(ByteBuffer buffer, int at, int length) throws WireException {
        final int count = FrameHeadDescriptor.small(buffer, at);
        if (length < FIXED_LENGTH || count < 0 || count > MAX_SECTIONS) {
            throw new WireException(WireFault.BAD_FRAME, "a question for changes with " + count + " sections");
        }
        ClientFrameDescriptor.requireLength(length, FIXED_LENGTH + (long) count * SECTION_LENGTH);
        final int waitMs = buffer.getInt(at + WAIT_OFFSET);
        if (waitMs < 0 || waitMs > MAX_WAIT_MS || buffer.getInt(at + ZERO_OFFSET) != 0) {
            throw new WireException(WireFault.BAD_FRAME, "a question for changes that waits " + waitMs + " ms");
        }
        for (int i = 0; i < count; i++) {
            final int from = at + FIXED_LENGTH + i * SECTION_LENGTH;
            final int flags = buffer.getInt(from + FLAGS_OFFSET);
            if (buffer.getLong(from + POSITION_OFFSET) < FROM_NOW
                    || flags < 0
                    || flags > OLD_VALUES
                    || buffer.getInt(from + SECTION_ZERO_OFFSET) != 0) {
                throw new WireException(WireFault.BAD_FRAME, "a question for changes with a section of flags " + flags);
            }
        }
    }

    // --- of a question that was checked ---

    public static long term(ByteBuffer buffer, int at) {
        return buffer.getLong(at + TERM_OFFSET);
    }

    public static int waitMs(ByteBuffer buffer, int at) {
        return buffer.getInt(at + WAIT_OFFSET);
    }

    public static int sections(ByteBuffer buffer, int at) {
        return FrameHeadDescriptor.small(buffer, at);
    }

    private static int sectionAt(int at, int index) {
        return at + FIXED_LENGTH + index * SECTION_LENGTH;
    }

    public static long position(ByteBuffer buffer, int at, int index) {
        return buffer.getLong(sectionAt(at, index) + POSITION_OFFSET);
    }

    public static int cacheId(ByteBuffer buffer, int at, int index) {
        return buffer.getInt(sectionAt(at, index) + CACHE_OFFSET);
    }

    public static int shard(ByteBuffer buffer, int at, int index) {
        return buffer.getInt(sectionAt(at, index) + SHARD_OFFSET);
    }

    public static boolean oldValues(ByteBuffer buffer, int at, int index) {
        return buffer.getInt(sectionAt(at, index) + FLAGS_OFFSET) == OLD_VALUES;
    }
}
