package org.rowankv.rdma.rowan;

import java.nio.ByteBuffer;
import org.rowankv.runtime.RandomSource;

/**
 * Draws the generation for the next use of a segment.
 *
 * <p>A generation is random, so that nobody can prepare a value that looks like log of the future. But the segment is
 * not zeroed, its old bytes stand where new words will be awaited, and one in four thousand million of them has any
 * given low half: at a million entries a second that is one false word an hour. So the segment's strides are looked
 * through, and a generation that occurs is drawn again. It costs one cache line per stride of a segment about to be
 * overwritten, off the data path.
 *
 * <p>Thread-safe, if all that draw from the random source hold its lock: the numbers are drawn under that, and segments are
 * read without it.
 */
public final class GenerationSource {
    private final RandomSource random;

    public GenerationSource(RandomSource random) {
        this.random = random;
    }

    /**
     * A generation other than 0 that no stride of the segment at that offset begins with. Nobody writes it meanwhile.
     */
    public int draw(ByteBuffer buffer, int offset, int segmentLength) {
        for (; ; ) {
            final int generation;
            synchronized (random) {
                generation = (int) random.nextLong();
            }
            if (generation != 0 && !occurs(buffer, offset, segmentLength, generation)) {
                return generation;
            }
        }
    }

    /** Whether some stride of the segment begins with a word of that generation. */
    public static boolean occurs(ByteBuffer buffer, int offset, int segmentLength, int generation) {
        for (int at = offset; at < offset + segmentLength; at += FrameDescriptor.STRIDE) {
            if (FrameDescriptor.generation(FrameDescriptor.wordPlain(buffer, at)) == generation) {
                return true;
            }
        }
        return false;
    }
}
