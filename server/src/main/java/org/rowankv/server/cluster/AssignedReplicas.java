package org.rowankv.server.cluster;

import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import org.rowankv.server.area.Area;
import org.rowankv.server.log.Segments;
import org.rowankv.server.membership.ClusterException;
import org.rowankv.server.peer.StaleTermException;
import org.rowankv.server.recovery.RecoveredServer;
import org.rowankv.server.shard.Replicas;
import org.rowankv.server.shard.ShardReplica;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.KeyHash;
import org.rowankv.topology.ShardAssignment;

/** The replicas that a configuration gives a server at its start: complete ones, which its area has, and joining ones. */
final class AssignedReplicas {
    private AssignedReplicas() {}

    /** Those that the area is read into. A copy that was interrupted begins anew. */
    static Replicas complete(Configuration found, Segments segments) {
        final int serverId = segments.area().serverId();
        beginEmpty(found, segments.area());
        for (int shard = 0; shard < found.shardCount(); shard++) {
            if (found.shard(shard).isComplete(serverId)
                    && segments.area().tenures().tenure(shard) == 0) {
                throw new ClusterException("the configuration counts on shard " + shard + " of server number "
                        + serverId + ", whose directory has never held it: start it with its former directory");
            }
        }
        final KeyHash keyHash = new KeyHash(found.hashSeed());
        return filled(
                found,
                shard -> found.shard(shard).isComplete(serverId)
                        ? new ShardReplica(
                                shard,
                                found.shardCount(),
                                keyHash,
                                segments,
                                segments.area().tenures().tenure(shard))
                        : null);
    }

    /** A shard that began empty has nothing of what was here before. */
    private static void beginEmpty(Configuration found, Area area) {
        for (int shard = 0; shard < found.shardCount(); shard++) {
            final ShardAssignment assignment = found.shard(shard);
            if (assignment.isComplete(area.serverId()) && area.tenures().tenure(shard) < assignment.origin()) {
                area.tenures().put(shard, assignment.origin());
            }
        }
        area.drain();
    }

    /** Those that were read, and joining ones, which are empty. */
    static Replicas of(Configuration configuration, RecoveredServer read) {
        final KeyHash keyHash = new KeyHash(configuration.hashSeed());
        return filled(configuration, shard -> {
            final ShardAssignment assignment = configuration.shard(shard);
            if (!assignment.isJoining(read.serverId())) {
                return assignment.isReplica(read.serverId()) ? read.replicas().get(shard) : null;
            }
            final ShardReplica joining =
                    new ShardReplica(shard, configuration.shardCount(), keyHash, read.segments(), assignment.epoch());
            joining.beginJoining();
            return joining;
        });
    }

    private static Replicas filled(Configuration configuration, IntFunction<@Nullable ShardReplica> replicaOf) {
        final @Nullable ShardReplica[] replicas = new @Nullable ShardReplica[configuration.shardCount()];
        for (int shard = 0; shard < replicas.length; shard++) {
            replicas[shard] = replicaOf.apply(shard);
        }
        return new Replicas(replicas);
    }

    /** A joining replica begins with its epoch: what was received before is void. */
    static void beginTenures(Configuration configuration, Area area) {
        for (int shard = 0; shard < configuration.shardCount(); shard++) {
            if (configuration.shard(shard).isJoining(area.serverId())) {
                area.tenures().put(shard, configuration.shard(shard).epoch());
            }
        }
        area.drain();
    }

    /** @throws StaleTermException if the area was read for other roles */
    static void requireComplete(Configuration configuration, RecoveredServer read) {
        for (int shard = 0; shard < configuration.shardCount(); shard++) {
            if (configuration.shard(shard).isComplete(read.serverId())
                    != read.replicas().has(shard)) {
                throw new StaleTermException("shard " + shard + " has other replicas now");
            }
        }
    }
}
