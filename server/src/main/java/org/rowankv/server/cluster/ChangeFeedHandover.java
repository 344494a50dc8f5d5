package org.rowankv.server.cluster;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.rowankv.server.engine.Server;
import org.rowankv.server.shard.Replicas;
import org.rowankv.server.shard.ShardChanges;
import org.rowankv.topology.Configuration;

/**
 * Change streams that a server keeps from one start of its roles to the next (docs/design/change-streams.md).
 *
 * <p>A stream continues only if the shard's next epoch belongs to this server too. One incarnation of one server
 * assigns all versions of an epoch. So all changes of the last epoch passed here, and no other epoch was in between.
 *
 * <p>For one thread.
 */
final class ChangeFeedHandover {
    /** No streams. */
    static final ChangeFeedHandover NONE = new ChangeFeedHandover();

    private record Kept(int epoch, ShardChanges changes) {}

    private final Map<Integer, Kept> byShard = new HashMap<>();

    private ChangeFeedHandover() {}

    /** The streams of a server that has served in that configuration and has stopped: no writes arrive any more. */
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

    /** Continues the streams that can continue in that configuration. Call before the server serves in it. */
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
