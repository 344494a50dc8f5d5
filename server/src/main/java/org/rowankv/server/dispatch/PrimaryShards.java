package org.rowankv.server.dispatch;

import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.VersionCounter;
import org.rowankv.runtime.CounterStarts;
import org.rowankv.server.shard.Replicas;
import org.rowankv.server.shard.ShardPrimary;
import org.rowankv.topology.Configuration;

/** The shards of which a server is the primary. Immutable and thread-safe. */
public final class PrimaryShards {
    private final @Nullable ShardPrimary[] ofShards;

    private PrimaryShards(@Nullable ShardPrimary[] ofShards) {
        this.ofShards = ofShards;
    }

    /** @param sessionsPerTable that may be open at once */
    public static PrimaryShards of(
            int serverId,
            Configuration configuration,
            Replicas replicas,
            CounterStarts counters,
            int sessionsPerTable) {
        final @Nullable ShardPrimary[] own = new @Nullable ShardPrimary[configuration.shardCount()];
        for (int shard = 0; shard < own.length; shard++) {
            if (configuration.shard(shard).primary() == serverId) {
                replicas.get(shard).sessions().limit(sessionsPerTable);
                own[shard] = new ShardPrimary(
                        replicas.get(shard),
                        new VersionCounter(configuration.shard(shard).epoch(), shard, counters));
            }
        }
        return new PrimaryShards(own);
    }

    /** Ordered by shard. */
    public List<ShardPrimary> all() {
        return Arrays.stream(ofShards).filter(Objects::nonNull).toList();
    }

    /** Primary of an existing shard; null if another server has it. */
    @Nullable
    public ShardPrimary get(int shard) {
        return ofShards[shard];
    }

    /** Bounds-checked {@link #get}: null also if the shard does not exist. */
    @Nullable
    public ShardPrimary find(int shard) {
        return shard >= 0 && shard < ofShards.length ? ofShards[shard] : null;
    }

    /** The last version assigned in a shard, or 0. */
    public long lastVersion(int shard) {
        final ShardPrimary primary = ofShards[shard];
        return primary == null ? 0 : primary.versions().last();
    }

    public long evictedObjects() {
        long evicted = 0;
        for (ShardPrimary primary : ofShards) {
            evicted += primary == null ? 0 : primary.replica().counts().evictions();
        }
        return evicted;
    }
}
