package org.rowankv.server.cluster;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.rowankv.server.engine.Server;
import org.rowankv.server.shard.Replicas;
import org.rowankv.server.shard.ShardChanges;
import org.rowankv.topology.Configuration;

/**
 * What a server keeps of its shards' change streams from one start of its roles to the next (docs/design/17-change-streams.md).
 *
 * <p>A stream goes on only where the shard's next epoch is this server's too: every version of an epoch is given out by one
 * incarnation of one server, so all changes of the last epoch were handed over here, and no other epoch was in between.
 *
 * <p>For one thread.
 */
final class ChangeFeedHandover {
    /** Nothing. */
    static final ChangeFeedHandover NONE = new ChangeFeedHandover();

    private record Kept(int epoch, ShardChanges changes) {}

    private final Map<Integer, Kept> byShard = new HashMap<>();

    private ChangeFeedHandover() {}

    /** Of a server that has served in that configuration, and has stopped: nobody writes there any more. */
    static ChangeFeedHandover of(Server stopped, Configuration served) {
        final ChangeFeedHandover kept = new ChangeFeedHandover();
        for (int shard = 0; shard < served.shardCount(); shard++) {
            if (stopped.isPrimary(shard)) {
                final @Nullable ShardChanges next = stopped.replicas()
                        .get(shard)
                        .changes()
                        .continued(stopped.lastVersion(shard), stopped.finishedVersion(shard));
                if (next != null) {
                    kept.byShard.put(shard, new Kept(served.shard(shard).epoch(), next));
                }
            }
        }
        return kept;
    }

    /** Before a server serves in that configuration: the streams that can go on there do. */
    void continueIn(Configuration next, int serverId, Replicas replicas) {
        byShard.forEach((shard, kept) -> {
            if (next.shard(shard).primary() == serverId
                    && next.shard(shard).epoch() == kept.epoch + 1
                    && replicas.has(shard)) {
                replicas.get(shard).continueChanges(kept.changes);
            }
        });
    }
}
