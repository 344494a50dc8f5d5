package org.rowankv.rdma.rowan;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * Layout of the frame at the start of every log entry, in primary, backup and clean segments. Little-endian; the
 * frame starts at a stride of 64 bytes.
 *
 * <pre>
 *   0                               8               12              16              20              24
 *   +-------------------------------+---------------+---------------+---------------+---------------+----//----+
 *   |       publication word        | placement crc |   body crc    |      tag      |     stamp     |   body   |
 *   +-------------------------------+---------------+---------------+---------------+---------------+----//----+
 *
 *   publication word, from the highest bit
 *   63      56 55      48 47              32 31                              0
 *   +---------+----------+------------------+---------------------------------+
 *   |  zero   |   type   |  strides minus 1 |           generation            |
 *   +---------+----------+------------------+---------------------------------+
 * </pre>
 *
 * <p>The generation is drawn at random for each use of a segment and is never 0: a word of another generation means
 * nothing here. Types 1 to 250 belong to the body's owner; RESERVED and VOID are the frame's own.
 *
 * <p>Two commit protocols, never confused. <i>Between threads</i> an entry is published by its word: it goes from
 * whatever stood there to RESERVED, and by compare-and-set to the entry's type once all the rest is written, or to
 * VOID. <i>Across a crash</i> that order proves nothing; an entry is whole if the placement crc agrees, which covers
 * the address, the word, the body crc, the tag and the stamp, and the body crc, which covers the body. A copy of log
 * bytes inside a user's value lies at another address or under another generation and never passes.
 *
 * <p>A RESERVED or VOID word is not covered by any crc: it may be believed only where the log is known to have an
 * entry, not where a scan looks for the next one behind damage.
 */
public final class FrameDescriptor {
    /** Landing granularity in bytes; frames start at multiples of it. */
    public static final int STRIDE = 64;

    public static final int WORD_OFFSET = 0;
    public static final int PLACEMENT_CRC_OFFSET = WORD_OFFSET + Long.BYTES;
    public static final int BODY_CRC_OFFSET = PLACEMENT_CRC_OFFSET + Integer.BYTES;
    public static final int TAG_OFFSET = BODY_CRC_OFFSET + Integer.BYTES;
    public static final int STAMP_OFFSET = TAG_OFFSET + Integer.BYTES;
    public static final int HEADER_LENGTH = STAMP_OFFSET + Integer.BYTES;

    /** Longest frame in strides, and in bytes. */
    public static final int MAX_STRIDES = 1 << 16;

    public static final int MAX_LENGTH = MAX_STRIDES * STRIDE;

    /** Highest type that the body's owner may use; the lowest is 1. */
    public static final int MAX_TYPE = 250;

    /** Space reserved, entry not published yet. */
    public static final int RESERVED = 254;
    /** Space reserved, entry never published. */
    public static final int VOID = 255;

    private static final VarHandle LONGS = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN)
            .withInvokeExactBehavior();
    private static final VarHandle INTS = MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN)
            .withInvokeExactBehavior();

    private static final int LENGTH_SHIFT = 32;
    private static final int TYPE_SHIFT = 48;
    private static final int ZERO_SHIFT = 56;

    private FrameDescriptor() {}

    public static long word(int generation, int strides, int type) {
        return (generation & 0xFFFF_FFFFL) | ((long) (strides - 1) << LENGTH_SHIFT) | ((long) type << TYPE_SHIFT);
    }

    public static int generation(long word) {
        return (int) word;
    }

    /** Length in bytes, a multiple of the stride. */
    public static int length(long word) {
        return strides(word) * STRIDE;
    }

    public static int strides(long word) {
        return (int) (word >>> LENGTH_SHIFT & 0xFFFF) + 1;
    }

    public static int type(long word) {
        return (int) (word >>> TYPE_SHIFT & 0xFF);
    }

    /** Strides of that many bytes. */
    public static int stridesOf(int bytes) {
        return (bytes + STRIDE - 1) / STRIDE;
    }

    /** Whether the type is one that an entry may have. */
    public static boolean isEntryType(int type) {
        return type >= 1 && type <= MAX_TYPE;
    }

    public static long wordAcquire(ByteBuffer buffer, int offset) {
        return (long) LONGS.getAcquire(buffer, offset + WORD_OFFSET);
    }

    /** The word, for memory that no other thread writes. */
    public static long wordPlain(ByteBuffer buffer, int offset) {
        return (long) LONGS.get(buffer, offset + WORD_OFFSET);
    }

    /** Stores the word with release: a reader with acquire sees all earlier writes. */
    public static void wordRelease(ByteBuffer buffer, int offset, long word) {
        LONGS.setRelease(buffer, offset + WORD_OFFSET, word);
    }

    public static boolean compareAndSetWord(ByteBuffer buffer, int offset, long expected, long word) {
        return LONGS.compareAndSet(buffer, offset + WORD_OFFSET, expected, word);
    }

    public static int placementCrc(ByteBuffer buffer, int offset) {
        return (int) INTS.get(buffer, offset + PLACEMENT_CRC_OFFSET);
    }

    public static int bodyCrc(ByteBuffer buffer, int offset) {
        return (int) INTS.get(buffer, offset + BODY_CRC_OFFSET);
    }

    public static int tag(ByteBuffer buffer, int offset) {
        return (int) INTS.get(buffer, offset + TAG_OFFSET);
    }

    public static int stamp(ByteBuffer buffer, int offset) {
        return (int) INTS.get(buffer, offset + STAMP_OFFSET);
    }

    /** Writes the frame except its word. */
    static void fields(ByteBuffer buffer, int offset, int placementCrc, int bodyCrc, int tag, int stamp) {
        INTS.set(buffer, offset + PLACEMENT_CRC_OFFSET, placementCrc);
        INTS.set(buffer, offset + BODY_CRC_OFFSET, bodyCrc);
        INTS.set(buffer, offset + TAG_OFFSET, tag);
        INTS.set(buffer, offset + STAMP_OFFSET, stamp);
    }

    /** Prepares a source for a SEND: it provides type and body crc, the rest is computed where it lands. */
    public static void source(ByteBuffer buffer, int offset, int length, int type, int bodyCrc) {
        LONGS.set(buffer, offset + WORD_OFFSET, word(0, stridesOf(length), type));
        fields(buffer, offset, 0, bodyCrc, 0, 0);
    }

    /**
     * Turns any older word into RESERVED. The caller has reserved the space, or helps its owner, and names the segment in
     * its hazard word, so that the segment is still in this use. A published word of which a bit has flipped is no older
     * one: it stays, so that the receiver finds the damage.
     *
     * @param address region address of the frame
     * @return whether the word is RESERVED now, set by us or by a helper; false if it was voided or published since
     */
    public static boolean reserve(ByteBuffer buffer, int offset, long address, int generation, int strides) {
        final long reserved = word(generation, strides, RESERVED);
        for (; ; ) {
            final long found = (long) LONGS.getVolatile(buffer, offset + WORD_OFFSET);
            if (generation(found) == generation) {
                return found == reserved;
            }
            // Hardly ever asked: generations are random.
            if (Integer.bitCount(generation(found) ^ generation) == 1
                    && wordBeforeAFlip(buffer, offset, address, generation, new FrameChecksum()) != 0) {
                return false;
            }
            if (LONGS.compareAndSet(buffer, offset + WORD_OFFSET, found, reserved)) {
                return true;
            }
        }
    }

    /** Turns a RESERVED word of that generation to VOID; returns false if the word is anything else. */
    public static boolean makeVoid(ByteBuffer buffer, int offset, int generation) {
        final long found = (long) LONGS.getVolatile(buffer, offset + WORD_OFFSET);
        return generation(found) == generation
                && type(found) == RESERVED
                && LONGS.compareAndSet(buffer, offset + WORD_OFFSET, found, word(generation, strides(found), VOID));
    }

    /** Turns a frame without a valid crc to VOID, whatever its word. For a start, before other threads access the log. */
    public static void giveUp(ByteBuffer buffer, int offset) {
        final long found = wordPlain(buffer, offset);
        LONGS.setRelease(buffer, offset + WORD_OFFSET, word(generation(found), strides(found), VOID));
    }

    /**
     * Marks a damaged frame: nothing needs what it held. The mark takes the place of the placement crc, as the complement of the
     * crc of the other header fields. So the frame stays invalid, and threads that still read the entry see no other word.
     *
     * @param address region address of the frame
     */
    public static void writeOff(ByteBuffer buffer, int offset, long address, FrameChecksum checksum) {
        INTS.set(buffer, offset + PLACEMENT_CRC_OFFSET, writtenOffCrc(buffer, offset, address, checksum));
    }

    /** Whether the frame has the mark of {@link #writeOff} and an unchanged header. */
    public static boolean isWrittenOff(ByteBuffer buffer, int offset, long address, FrameChecksum checksum) {
        return placementCrc(buffer, offset) == writtenOffCrc(buffer, offset, address, checksum);
    }

    private static int writtenOffCrc(ByteBuffer buffer, int offset, long address, FrameChecksum checksum) {
        return ~checksum.placement(
                address,
                wordAcquire(buffer, offset),
                bodyCrc(buffer, offset),
                tag(buffer, offset),
                stamp(buffer, offset));
    }

    /**
     * Why the frame at the offset is not an entry of this place and generation, or null if it is. Says nothing of the
     * body but that it is not cut off.
     *
     * @param limit where the readable bytes of the segment end in the buffer
     * @param address region address of the frame
     */
    public static @Nullable String whyInvalid(
            ByteBuffer buffer, int offset, int limit, long address, int generation, FrameChecksum checksum) {
        if (offset < 0 || offset > limit - HEADER_LENGTH) {
            return "the frame's header is cut off";
        }
        final long word = wordAcquire(buffer, offset);
        if (generation(word) != generation || generation == 0) {
            return "the publication word is of another generation";
        }
        if (type(word) == RESERVED) {
            return "the place is reserved, the entry is not there";
        }
        if (type(word) == VOID) {
            return "the place is void";
        }
        final int crc =
                checksum.placement(address, word, bodyCrc(buffer, offset), tag(buffer, offset), stamp(buffer, offset));
        if (crc != placementCrc(buffer, offset)) {
            return "the placement crc does not agree";
        }
        if (word >>> ZERO_SHIFT != 0) {
            return "bits that must be zero are set";
        }
        if (!isEntryType(type(word))) {
            return "no entry has type " + type(word);
        }
        if (offset > limit - length(word)) {
            return "the frame ends beyond its segment";
        }
        return null;
    }

    /**
     * The word of an entry that was at the place before one bit of the word flipped, or 0: the placement crc agrees with no other
     * word. Of a word that names the generation and an entry's type it is not asked: {@link #whyInvalid} says what that is.
     *
     * @param address region address of the frame
     */
    public static long wordBeforeAFlip(
            ByteBuffer buffer, int offset, long address, int generation, FrameChecksum checksum) {
        final long found = wordPlain(buffer, offset);
        if (Integer.bitCount(generation(found) ^ generation) > 1) {
            return 0;
        }
        for (int bit = 0; bit < Long.SIZE; bit++) {
            final long word = found ^ 1L << bit;
            if (generation(word) == generation
                    && isEntryType(type(word))
                    && checksum.placement(
                                    address, word, bodyCrc(buffer, offset), tag(buffer, offset), stamp(buffer, offset))
                            == placementCrc(buffer, offset)) {
                return word;
            }
        }
        return 0;
    }

    /** Why the first {@code bodyLength} bytes of a valid frame's body are not what was sealed, or null if they are. */
    public static @Nullable String whyBodyInvalid(
            ByteBuffer buffer, int offset, int bodyLength, FrameChecksum checksum) {
        if (bodyLength < 0 || bodyLength > length(wordPlain(buffer, offset)) - HEADER_LENGTH) {
            return "the body is longer than its frame";
        }
        if (checksum.body(buffer, offset + HEADER_LENGTH, bodyLength) != bodyCrc(buffer, offset)) {
            return "the body crc does not agree";
        }
        return null;
    }
}
