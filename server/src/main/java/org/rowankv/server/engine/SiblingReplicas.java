package org.rowankv.server.engine;

import java.util.ArrayList;
import java.util.List;
import org.rowankv.server.scrub.PeerReplica;
import org.rowankv.server.shard.ShardReplica;

/**
 * The other replicas of a server's shards, on servers in the same process. The servers are set before the start; which
 * of them holds a shard may change.
 */
final class SiblingReplicas {
    private List<Server> others = List.of();

    void meet(Server own, List<Server> servers) {
        others = servers.stream().filter(server -> server != own).toList();
    }

    /** Empty without servers in the same process. */
    List<PeerReplica> of(int shard) {
        final List<PeerReplica> found = new ArrayList<>();
        for (Server other : others) {
            final ShardReplica replica = other.replicas().find(shard);
            if (replica != null) {
                found.add(new PeerReplica(
                        other.segments(),
                        replica,
                        () -> other.isStopped() ? Long.MAX_VALUE - 2 : other.digestCycles()));
            }
        }
        return found;
    }
}
