package org.rowankv.server.engine;

import java.util.ArrayList;
import java.util.List;
import org.rowankv.server.scrub.PeerReplica;

/**
 * The other replicas of a server's shards, on servers in the same process. Set before the start; read-only afterwards.
 */
final class SiblingReplicas {
    private List<List<PeerReplica>> ofShards = List.of();

    void meet(Server own, List<Server> servers) {
        final List<List<PeerReplica>> found = new ArrayList<>();
        for (int shard = 0; shard < own.replicas().shardCount(); shard++) {
            final List<PeerReplica> others = new ArrayList<>();
            for (Server other : servers) {
                if (other != own && other.replicas().has(shard)) {
                    others.add(new PeerReplica(
                            other.segments(),
                            other.replicas().get(shard),
                            () -> other.isStopped() ? Long.MAX_VALUE - 2 : other.digestCycles()));
                }
            }
            found.add(others);
        }
        ofShards = found;
    }

    /** Empty without servers in the same process. */
    List<PeerReplica> of(int shard) {
        return shard < ofShards.size() ? ofShards.get(shard) : List.of();
    }
}
