package org.rowankv.server.directory;

/**
 * The parameters that a store is created with and must be opened with.
 *
 * @param servers in this process
 * @param replicas of each shard
 * @param capacity bytes of each server's segments
 * @param shards of the cluster
 * @param segmentLength bytes of a segment
 */
public record StoreShape(int servers, int replicas, long capacity, int shards, int segmentLength) {
    public StoreShape {
        if (servers < 1 || replicas < 1 || replicas > servers || shards < 1) {
            throw new IllegalArgumentException(
                    servers + " servers, " + replicas + " replicas, " + shards + " shards: no such store");
        }
    }
}
