package org.rowankv.server.index;

import java.util.Arrays;

/**
 * The buckets that full ones link to. Allocated and freed under the index's lock. Any thread reads them without a lock
 * and may see a freed bucket, which the index's count of moves reveals.
 */
final class OverflowBuckets {
    private volatile long[][] chunks = new long[0][];
    private int count;
    private int free = -1;

    long[][] chunks() {
        return chunks;
    }

    /** An empty bucket. Allocates only where {@link #ensure} has not. */
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

    /** Ensures that so many buckets can be taken without allocation. */
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
        // A free bucket's link chains the free list; a reader that strays into it restarts because of the moves.
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
