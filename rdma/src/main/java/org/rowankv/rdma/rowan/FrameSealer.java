package org.rowankv.rdma.rowan;

import java.nio.ByteBuffer;

/**
 * Writer of frames in log segments: seals and publishes them.
 *
 * <p>A reader that sees a word of an entry's type with acquire sees the complete entry. Does not flush, and does not
 * check that the caller owns the space: a log with many writers reserves it by compare-and-set on its tail, a log with
 * one writer owns it.
 *
 * <p>For one thread at a time; allocates nothing.
 */
public final class FrameSealer {
    private final FrameChecksum checksum = new FrameChecksum();

    /** The checksum object of this sealer, for the same thread. */
    public FrameChecksum checksum() {
        return checksum;
    }

    /**
     * Publishes an entry whose body follows a reserved word: writes the frame's fields, then the word.
     *
     * @param address region address of the entry, which the placement crc covers
     * @param length bytes of the entry, frame included
     * @return false if the reservation was voided meanwhile: the entry is not in the log
     */
    public boolean publish(
            ByteBuffer buffer,
            int offset,
            long address,
            int generation,
            int length,
            int type,
            int bodyCrc,
            int tag,
            int stamp) {
        final int strides = FrameDescriptor.stridesOf(length);
        final long word = seal(buffer, offset, address, generation, strides, type, bodyCrc, tag, stamp);
        final long reserved = FrameDescriptor.word(generation, strides, FrameDescriptor.RESERVED);
        return FrameDescriptor.compareAndSetWord(buffer, offset, reserved, word);
    }

    /** Publishes an entry in a log with a single writer, without a reservation. */
    public void publishOwned(
            ByteBuffer buffer,
            int offset,
            long address,
            int generation,
            int length,
            int type,
            int bodyCrc,
            int tag,
            int stamp) {
        final int strides = FrameDescriptor.stridesOf(length);
        final long word = seal(buffer, offset, address, generation, strides, type, bodyCrc, tag, stamp);
        FrameDescriptor.wordRelease(buffer, offset, word);
    }

    private long seal(
            ByteBuffer buffer,
            int offset,
            long address,
            int generation,
            int strides,
            int type,
            int bodyCrc,
            int tag,
            int stamp) {
        assert generation != 0 && FrameDescriptor.isEntryType(type) : "generation " + generation + ", type " + type;
        final long word = FrameDescriptor.word(generation, strides, type);
        final int crc = checksum.placement(address, word, bodyCrc, tag, stamp);
        FrameDescriptor.fields(buffer, offset, crc, bodyCrc, tag, stamp);
        return word;
    }
}
