package org.rowankv.server.index;

import java.util.Arrays;

/**
 * The buckets to which full ones link. Taken and given back under the index's lock; read by any thread, without one, which
 * may see a bucket that was given back meanwhile: the index's count of moves tells.
 */
final class OverflowBuckets {
    private volatile long[][] chunks = new long[0][];
    private int count;
    private int free = -1;

    long[][] chunks() {
        return chunks;
    }

    /** An empty bucket. Asks for memory only where {@link #ensure} has not. */
    int take() {
        if (free >= 0) {
            final int taken = free;
            final long[] words = Chunks.of(chunks, taken);
            free = ReferenceBits.linkIn(words[Chunks.word(taken) + Chunks.ITEMS]) - 1;
            Chunks.WORD.setRelease(words, Chunks.word(taken) + Chunks.ITEMS, 0L);
            return taken;
        }
        ensure(1);
        return count++;
    }

    /** Makes sure that so many can be taken without memory. */
    void ensure(int more) {
        if (count + more > ReferenceBits.MAX_LINK) {
            throw new IllegalStateException("a shard has more objects than its index can hold: use more shards");
        }
        for (int chunk = count >>> Chunks.SHIFT; chunk <= (count + more - 1) >>> Chunks.SHIFT; chunk++) {
            if (chunk >= chunks.length) {
                chunks = Arrays.copyOf(chunks, chunk + 1 + chunk / 8);
            }
            if (chunks[chunk] == null) {
                chunks[chunk] = new long[Chunks.BUCKETS * Chunks.WORDS];
            }
        }
    }

    void give(int bucket) {
        final long[] words = Chunks.of(chunks, bucket);
        // A free bucket's link chains the free list; a reader that strays into it begins again because of the moves.
        Chunks.WORD.setRelease(words, Chunks.word(bucket) + Chunks.ITEMS, free + 1L);
        free = bucket;
    }

    void clear() {
        chunks = new long[0][];
        count = 0;
        free = -1;
    }

    /** Bytes of DRAM. */
    long memoryBytes() {
        return Chunks.memoryBytes(chunks);
    }
}
