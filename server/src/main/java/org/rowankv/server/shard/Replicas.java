package org.rowankv.server.shard;

import org.jspecify.annotations.Nullable;

/** The shards' replicas on one server, by shard id. */
public final class Replicas {
    private final @Nullable ShardReplica[] replicas;

    public Replicas(@Nullable ShardReplica[] replicas) {
        this.replicas = replicas.clone();
    }

    public int shardCount() {
        return replicas.length;
    }

    public boolean has(int shard) {
        return shard >= 0 && shard < replicas.length && replicas[shard] != null;
    }

    /** Whether any replica here is not complete yet. */
    public boolean isJoining() {
        for (ShardReplica replica : replicas) {
            if (replica != null && replica.isJoining()) {
                return true;
            }
        }
        return false;
    }

    /** The replica of a shard that this server holds. */
    public ShardReplica get(int shard) {
        final ShardReplica replica = replicas[shard];
        if (replica == null) {
            throw new AssertionError("this server holds no replica of shard " + shard);
        }
        return replica;
    }
}
