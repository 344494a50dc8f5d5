package org.rowankv.server.engine;

import java.util.ArrayList;
import java.util.List;
import org.rowankv.server.scrub.PeerReplica;
import org.rowankv.server.scrub.PeerReplicas;
import org.rowankv.server.scrub.SiblingReplica;
import org.rowankv.server.shard.ShardReplica;

/** The other replicas of a server's shards, on servers in the same process or elsewhere. Set before the first use. */
final class OtherReplicas implements PeerReplicas {
    private volatile PeerReplicas found = shard -> List.of();

    void use(PeerReplicas replicas) {
        found = replicas;
    }

    /** Those of servers in the same process; which of them holds a shard may change. */
    void meet(Server own, List<Server> servers) {
        final List<Server> others = new ArrayList<>(servers);
        others.remove(own);
        found = shard -> siblings(others, shard);
    }

    private static List<PeerReplica> siblings(List<Server> others, int shard) {
        final List<PeerReplica> siblings = new ArrayList<>();
        for (Server other : others) {
            final ShardReplica replica = other.replicas().find(shard);
            if (replica != null) {
                siblings.add(new SiblingReplica(
                        other.segments(), replica, () -> other.isStopped() ? PeerReplica.GONE : other.digestCycles()));
            }
        }
        return siblings;
    }

    @Override
    public List<PeerReplica> of(int shard) {
        return found.of(shard);
    }

    @Override
    public void forget() {
        found.forget();
    }
}
