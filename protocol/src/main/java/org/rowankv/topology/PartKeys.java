package org.rowankv.topology;

import org.rowankv.protocol.Parts;

/**
 * The keys of parts: in the shard of their value, so that one primary, one clear and one consistent copy has all of it.
 * The salt of a key is the smallest that leads there. Immutable.
 */
public final class PartKeys {
    private final KeyHash hash;
    private final int shardCount;

    public PartKeys(KeyHash hash, int shardCount) {
        this.hash = hash;
        this.shardCount = shardCount;
    }

    /**
     * The key of a part. Takes about as many hashes as there are shards.
     *
     * @param partsId cache id of the parts
     * @param shard of the value
     */
    public byte[] key(int partsId, int shard, long id, int number) {
        // Ends: each salt hits the shard with the same chance.
        for (int salt = 0; ; salt++) {
            final byte[] key = Parts.key(id, number, salt);
            if (ShardMap.shardOf(hashOf(partsId, key), shardCount) == shard) {
                return key;
            }
        }
    }

    /** The hash of a part's key. */
    public long hashOf(int partsId, byte[] key) {
        return hash.hash(partsId, key, 0, key.length);
    }
}
