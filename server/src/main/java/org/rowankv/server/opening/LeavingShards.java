package org.rowankv.server.opening;

import org.rowankv.server.replication.InFlightWindow;
import org.rowankv.server.shard.CurrentRoles;
import org.rowankv.server.shard.Roles;
import org.rowankv.server.shard.ShardPrimary;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The shards that this server hands over. Each is served here until its next primary waits for it; then it is closed, and
 * leaves as soon as nothing of it is under way. Owned by the opening agent.
 */
final class LeavingShards {
    private static final Logger LOG = LoggerFactory.getLogger(LeavingShards.class);

    private final CurrentRoles current;
    private final InFlightWindow inFlightWindow;
    private final Runnable completeAbandoned;
    private final CollectedReplicas collected;
    /** Whether there may be some. */
    private volatile boolean areThere;

    private volatile boolean oweChanges;

    /** @param completeAbandoned completes what dead callers have begun, if no caller goes on with it */
    LeavingShards(
            CurrentRoles current,
            InFlightWindow inFlightWindow,
            Runnable completeAbandoned,
            CollectedReplicas collected) {
        this.current = current;
        this.inFlightWindow = inFlightWindow;
        this.completeAbandoned = completeAbandoned;
        this.collected = collected;
    }

    /** Roles are in force by which shards may leave. Any thread. */
    void look() {
        areThere = true;
    }

    /** Whether the next primary of a shard that has left may still lack its change stream. Any thread. */
    boolean oweChanges() {
        return oweChanges;
    }

    boolean isIdle() {
        return !areThere && !oweChanges;
    }

    /** Returns how many have left. */
    int doWork(OpeningListener listener) {
        if (!areThere) {
            return 0;
        }
        areThere = false; // before the roles are read: those that follow set it again
        int left = 0;
        for (ShardPrimary primary : current.get().primaries()) {
            final Roles roles = current.get();
            final int shard = primary.replica().shardId();
            if (roles.isLeaving(shard)) {
                areThere = true;
                if (collected.isAskedToHandOver(shard, roles) && leaves(primary)) {
                    listener.left(shard);
                    left++;
                }
            }
        }
        return left;
    }

    private boolean leaves(ShardPrimary primary) {
        final int shard = primary.replica().shardId();
        oweChanges = true; // before the roles show that it has left
        final long term = current.close(shard);
        final Roles closed = current.get();
        if (closed.term() != term) {
            return false;
        }
        if (!inFlightWindow.isIdle(shard)) {
            completeAbandoned.run(); // it may be what a dead caller has begun
        }
        if (!inFlightWindow.isIdle(shard) || !current.left(shard, term)) {
            return false;
        }
        // So the next primary does not take what is here for missing: a primary's own entries are in no tail.
        primary.replica().raiseCommitVersion(primary.versions().last());
        final Roles now = current.get();
        collected.left(shard, now.isUnopened(shard) ? closed : now); // it may come back already
        LOG.info("Shard handed over shard={} term={}", shard, term);
        return true;
    }

    /** Behind the answers to the next primaries. */
    void answered(long nowNs) {
        oweChanges = collected.owesChanges(nowNs);
    }
}
