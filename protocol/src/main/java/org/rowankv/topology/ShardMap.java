package org.rowankv.topology;

/**
 * A shard is a contiguous range of the 64-bit hashed key space, which {@code shardCount} shards divide evenly: with the
 * 128-bit product {@code hash * shardCount}, its high half is the shard and its low half the position of the key inside
 * the shard's range, again over the full 64 bits and in hash order.
 */
public final class ShardMap {
    /** Shard ids fit the entry's 16 bits; the practical bound keeps the configuration small. */
    public static final int MAX_SHARDS = 4096;

    private ShardMap() {}

    /** The shard of a hash, 0 .. shardCount − 1. */
    public static int shardOf(long hash, int shardCount) {
        // unsigned multiplyHigh, for a small positive second factor
        final long high = Math.multiplyHigh(hash, shardCount) + (shardCount & (hash >> 63));
        return (int) high;
    }

    /** The position of a hash within its shard, as an unsigned 64-bit number. */
    public static long positionOf(long hash, int shardCount) {
        return hash * shardCount;
    }
}
