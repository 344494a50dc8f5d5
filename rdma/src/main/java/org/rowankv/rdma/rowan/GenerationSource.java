package org.rowankv.rdma.rowan;

import java.nio.ByteBuffer;
import org.rowankv.runtime.RandomSource;

/**
 * Source of random generations for the next use of a segment.
 *
 * <p>A generation is random, so that no value can be crafted to look like a future log. But the segment is not zeroed,
 * its old bytes remain where new words are expected, and one in 2^32 of them has any given low half: at a million
 * entries a second that is one false word an hour. So the segment's strides are scanned, and a generation that occurs
 * is drawn again. This costs one cache line per stride of a segment about to be overwritten, off the data path.
 *
 * <p>Thread-safe, if all users of the random source hold its lock: numbers are drawn under it, segments are read
 * without it.
 */
public final class GenerationSource {
    private final RandomSource random;

    public GenerationSource(RandomSource random) {
        this.random = random;
    }

    /**
     * A generation other than 0 with which no stride of the segment at that offset begins. No thread writes the segment
     * meanwhile.
     */
    public int draw(ByteBuffer buffer, int offset, int segmentLength) {
        for (; ; ) {
            final int generation = next();
            if (generation != 0 && !occurs(buffer, offset, segmentLength, generation)) {
                return generation;
            }
        }
    }

    /**
     * A generation like that of {@link #draw}, and none of the segment's last 255: for readers that still hold an address
     * of an earlier use. Reads the segment, unless it was never used.
     *
     * @param previous generation of the segment's last use; 0: there was none
     */
    public int drawAfter(int previous, ByteBuffer buffer, int offset, int segmentLength) {
        for (; ; ) {
            final int generation = next() & -256 | previous + 1 & 255;
            if (generation != 0
                    && generation != previous
                    && (previous == 0 || !occurs(buffer, offset, segmentLength, generation))) {
                return generation;
            }
        }
    }

    private int next() {
        synchronized (random) {
            return (int) random.nextLong();
        }
    }

    /** Whether a stride of the segment begins with a word of that generation. */
    public static boolean occurs(ByteBuffer buffer, int offset, int segmentLength, int generation) {
        for (int at = offset; at < offset + segmentLength; at += FrameDescriptor.STRIDE) {
            if (FrameDescriptor.generation(FrameDescriptor.wordPlain(buffer, at)) == generation) {
                return true;
            }
        }
        return false;
    }
}
