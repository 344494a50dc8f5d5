package org.rowankv.server.shard;

import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The shard replicas on one server, by shard id. */
public final class Replicas {
    private final @Nullable ShardReplica[] replicas;
    private final List<ShardReplica> all;

    public Replicas(@Nullable ShardReplica[] replicas) {
        this.replicas = replicas.clone();
        this.all = Arrays.stream(this.replicas).filter(Objects::nonNull).toList();
    }

    public int shardCount() {
        return replicas.length;
    }

    /** The replicas that this server holds, by shard. */
    public List<ShardReplica> all() {
        return all;
    }

    public boolean has(int shard) {
        return shard >= 0 && shard < replicas.length && replicas[shard] != null;
    }

    /** Whether any replica here is still catching up. */
    public boolean isJoining() {
        return all.stream().anyMatch(ShardReplica::isJoining);
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
