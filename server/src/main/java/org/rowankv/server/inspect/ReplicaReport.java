package org.rowankv.server.inspect;

import java.util.List;

/**
 * Result of comparing the replicas of a closed store.
 *
 * @param replicas of each shard
 * @param objects of all shards, on their primaries
 * @param differences by shard and key
 * @param unsettled differences made by writes in flight when a store ended without being closed: they were never
 *     acknowledged, and the next opening brings them to all replicas or to none
 * @param damagedPlaces that were skipped
 */
public record ReplicaReport(
        int replicas,
        long objects,
        List<ShardDigests> shards,
        List<Difference> differences,
        List<Difference> unsettled,
        long damagedPlaces) {
    /** One replica of a shard. */
    public record Digest(int server, long objects, long digest) {}

    /** The replicas of one shard, the primary's first. */
    public record ShardDigests(int shard, List<Digest> replicas) {
        public boolean agree() {
            return replicas.stream()
                    .allMatch(each -> each.objects() == replicas.get(0).objects()
                            && each.digest() == replicas.get(0).digest());
        }
    }

    /**
     * An object that differs on two replicas.
     *
     * @param onPrimary its state on the primary
     */
    @SuppressWarnings("ArrayRecordComponent") // a carrier of bytes, never compared
    public record Difference(
            int shard, int cacheId, byte[] key, int primary, String onPrimary, int backup, String onBackup) {}
}
