package org.rowankv.server.index;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** The arrays of an index's buckets: chunks of 64 buckets of eight words, so that an index grows in small steps. */
final class Chunks {
    /** Per bucket: seven items, and the link to the next. */
    static final int WORDS = 8;

    /** A bucket's items; its link word follows them. */
    static final int ITEMS = WORDS - 1;

    static final VarHandle WORD = MethodHandles.arrayElementVarHandle(long[].class);

    static final int SHIFT = 6; // buckets in a chunk: 64, 4 KiB
    static final int BUCKETS = 1 << SHIFT;
    static final int MASK = BUCKETS - 1;
    /** The first chunk starts smaller: with two to the power of this many buckets. */
    static final int MIN_LEVEL = 2;

    private Chunks() {}

    /** The chunk of a bucket. */
    static long[] of(long[][] chunks, int bucket) {
        return chunks[bucket >>> SHIFT];
    }

    /** A bucket's first word in its chunk. */
    static int word(int bucket) {
        return (bucket & MASK) * WORDS;
    }

    /** False when the shape or link that was read is newer than the chunks. */
    static boolean exists(long[][] chunks, int bucket) {
        final int chunk = bucket >>> SHIFT;
        return chunk < chunks.length && chunks[chunk] != null && word(bucket) < chunks[chunk].length;
    }

    /** Empty chunks for so many buckets. */
    static long[][] empty(int bucketCount) {
        final long[][] chunks = new long[(bucketCount + BUCKETS - 1) >>> SHIFT][];
        for (int i = 0; i < chunks.length; i++) {
            chunks[i] = new long[BUCKETS * WORDS];
        }
        if (bucketCount <= BUCKETS / 2) {
            chunks[0] = new long[WORDS << MIN_LEVEL];
            while (chunks[0].length < bucketCount * WORDS) {
                chunks[0] = new long[2 * chunks[0].length];
            }
        }
        return chunks;
    }

    /** Bytes of DRAM. */
    static long memoryBytes(long[][] chunks) {
        long words = 0;
        for (long[] chunk : chunks) {
            words += chunk == null ? 0 : chunk.length + 2;
        }
        return words * Long.BYTES + chunks.length * 4L;
    }
}
