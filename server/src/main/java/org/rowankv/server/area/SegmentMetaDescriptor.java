package org.rowankv.server.area;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Layout of one segment's line in the segment meta table, little endian, 8-byte aligned.
 *
 * <pre>
 *   0        1        2                4                        8
 *   +--------+--------+----------------+------------------------+
 *   | state  | owner  | zero           | generation             |  word 0, atomic
 *   +--------+--------+----------------+------------------------+
 *   | opening sequence                                          |  word 1
 *   +-----------------------------------------------------------+
 *   | horizon sequence                                          |  word 2
 *   +----------------------------------+------------------------+
 *   | zero                             | check                  |  word 3
 *   +----------------------------------+------------------------+
 * </pre>
 *
 * <p>Between threads: words 1 to 3 are written first, word 0 last with release; later steps of the life cycle are
 * compare-and-sets of word 0. Across a crash: words 1 to 3 are drained before word 0 is written, so a word 0 that
 * names a use finds the words of that use. The check is the CRC32C of segment number, owner, generation, opening
 * sequence and horizon: everything but the state, which changes alone. The words of a free segment may be of its last
 * use, torn, or zero.
 */
public final class SegmentMetaDescriptor {
    static final int WORD_OFFSET = 0;
    static final int STATE_OFFSET = WORD_OFFSET;
    static final int OWNER_OFFSET = STATE_OFFSET + Byte.BYTES;
    static final int GENERATION_OFFSET = WORD_OFFSET + Integer.BYTES;
    static final int SEQUENCE_OFFSET = WORD_OFFSET + Long.BYTES;
    static final int HORIZON_OFFSET = SEQUENCE_OFFSET + Long.BYTES;
    static final int CHECK_WORD_OFFSET = HORIZON_OFFSET + Long.BYTES;
    static final int CHECK_OFFSET = CHECK_WORD_OFFSET + Integer.BYTES;
    public static final int LENGTH = CHECK_WORD_OFFSET + Long.BYTES;
    static final int ALIGNMENT = Long.BYTES;

    private static final VarHandle LONGS = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private SegmentMetaDescriptor() {}

    static long word(SegmentState state, SegmentOwner owner, int generation) {
        return state.ordinal() | (long) owner.ordinal() << Byte.SIZE | (long) generation << Integer.SIZE;
    }

    static SegmentState state(long word) {
        return SegmentState.of((int) word & 0xff);
    }

    public static SegmentOwner owner(long word) {
        return SegmentOwner.of((int) (word >>> Byte.SIZE) & 0xff);
    }

    public static int generation(long word) {
        return (int) (word >>> Integer.SIZE);
    }

    static long wordAcquire(ByteBuffer buffer, int offset) {
        return (long) LONGS.getAcquire(buffer, offset + WORD_OFFSET);
    }

    public static void wordRelease(ByteBuffer buffer, int offset, long word) {
        LONGS.setRelease(buffer, offset + WORD_OFFSET, word);
    }

    static boolean compareAndSetWord(ByteBuffer buffer, int offset, long expected, long word) {
        return LONGS.compareAndSet(buffer, offset + WORD_OFFSET, expected, word);
    }

    static long sequence(ByteBuffer buffer, int offset) {
        return (long) LONGS.getOpaque(buffer, offset + SEQUENCE_OFFSET);
    }

    static long horizon(ByteBuffer buffer, int offset) {
        return (long) LONGS.getOpaque(buffer, offset + HORIZON_OFFSET);
    }

    /** Stores words 1 to 3 of a use whose word 0 is written later. */
    public static void use(
            ByteBuffer buffer,
            int offset,
            int segment,
            SegmentOwner owner,
            int generation,
            long sequence,
            long horizon) {
        final int check = check(segment, owner, generation, sequence, horizon);
        LONGS.setOpaque(buffer, offset + SEQUENCE_OFFSET, sequence);
        LONGS.setOpaque(buffer, offset + HORIZON_OFFSET, horizon);
        LONGS.setOpaque(buffer, offset + CHECK_WORD_OFFSET, (long) check << Integer.SIZE);
    }

    /** The reason why the line is invalid, or null. A line of zeros, never used, is valid. */
    static @Nullable String whyInvalid(ByteBuffer buffer, int offset, int segment) {
        final long word = wordAcquire(buffer, offset);
        final int state = (int) word & 0xff;
        final int owner = (int) (word >>> Byte.SIZE) & 0xff;
        if (!SegmentState.isCode(state)) {
            return "unknown state " + state;
        }
        if (!SegmentOwner.isCode(owner)) {
            return "unknown owner " + owner;
        }
        if ((word >>> 16 & 0xffff) != 0) {
            return "reserved bytes are not zero";
        }
        final boolean free = SegmentState.of(state) == SegmentState.FREE;
        if (free != (SegmentOwner.of(owner) == SegmentOwner.NONE)) {
            return "state " + SegmentState.of(state) + " with owner " + SegmentOwner.of(owner);
        }
        if (free) {
            return null;
        }
        if (generation(word) == 0) {
            return "a use without generation";
        }
        return isChecked(buffer, offset, segment, SegmentOwner.of(owner), generation(word)) ? null : "check is wrong";
    }

    /** Whether words 1 to 3 belong to the use of that owner and generation. */
    private static boolean isChecked(ByteBuffer buffer, int offset, int segment, SegmentOwner owner, int generation) {
        final long found = (long) LONGS.getOpaque(buffer, offset + CHECK_WORD_OFFSET);
        final int check = check(segment, owner, generation, sequence(buffer, offset), horizon(buffer, offset));
        return found == (long) check << Integer.SIZE;
    }

    private static int check(int segment, SegmentOwner owner, int generation, long sequence, long horizon) {
        final ByteBuffer bytes = ByteBuffer.allocate(32).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putInt(segment).putInt(owner.ordinal()).putInt(generation).putInt(0);
        bytes.putLong(sequence).putLong(horizon).flip();
        final CRC32C crc = new CRC32C();
        crc.update(bytes);
        return (int) crc.getValue();
    }
}
