package org.rowankv.server;

import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.rowankv.placement.Configuration;
import org.rowankv.protocol.VersionCounter;
import org.rowankv.runtime.CounterStarts;
import org.rowankv.server.request.ShardPrimary;
import org.rowankv.server.shard.Replicas;

/** The shards whose primary a server is. Thread-safe; which ones they are does not change. */
final class OwnPrimaries {
    private final @Nullable ShardPrimary[] ofShards;

    private OwnPrimaries(@Nullable ShardPrimary[] ofShards) {
        this.ofShards = ofShards;
    }

    static OwnPrimaries of(int serverId, Configuration configuration, Replicas replicas, CounterStarts counters) {
        final @Nullable ShardPrimary[] own = new @Nullable ShardPrimary[configuration.shardCount()];
        for (int shard = 0; shard < own.length; shard++) {
            if (configuration.shard(shard).primary() == serverId) {
                own[shard] = new ShardPrimary(
                        replicas.get(shard),
                        new VersionCounter(configuration.shard(shard).epoch(), shard, counters));
            }
        }
        return new OwnPrimaries(own);
    }

    /** Ordered by shard. */
    List<ShardPrimary> all() {
        return Arrays.stream(ofShards).filter(Objects::nonNull).toList();
    }

    /** Of a shard of the cluster; null if another server is its primary. */
    @Nullable
    ShardPrimary get(int shard) {
        return ofShards[shard];
    }

    /** Of whatever somebody takes for a shard; null also if there is none of that number. */
    @Nullable
    ShardPrimary find(int shard) {
        return shard >= 0 && shard < ofShards.length ? ofShards[shard] : null;
    }

    /** The last version given out of a shard, or 0. */
    long lastVersion(int shard) {
        final ShardPrimary primary = ofShards[shard];
        return primary == null ? 0 : primary.versions().last();
    }

    long evictedObjects() {
        long evicted = 0;
        for (ShardPrimary primary : ofShards) {
            evicted += primary == null ? 0 : primary.replica().counts().evictions();
        }
        return evicted;
    }
}
