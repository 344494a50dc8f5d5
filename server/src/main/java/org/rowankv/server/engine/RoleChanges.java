package org.rowankv.server.engine;

import org.rowankv.protocol.VersionCounter;
import org.rowankv.rdma.Endpoint;
import org.rowankv.server.digest.CreditReclaim;
import org.rowankv.server.digest.DigestAgent;
import org.rowankv.server.opening.OpeningAgent;
import org.rowankv.server.replication.InFlightWindow;
import org.rowankv.server.resync.JoinAgent;
import org.rowankv.server.shard.CurrentRoles;
import org.rowankv.server.shard.Roles;
import org.rowankv.server.shard.ShardPrimary;
import org.rowankv.server.shard.ShardReplica;
import org.rowankv.topology.Configuration;

/**
 * The changes of the roles of a running server: one configuration after the other is prepared, then committed. All
 * shards that stay with their primaries are served meanwhile; those that come to this server are opened.
 *
 * <p>Thread-safe.
 */
public final class RoleChanges {
    private final int serverId;
    private final CurrentRoles current;
    private final OpeningAgent openings;

    private final CreditReclaim reclaim;
    private final JoinAgent join;
    private final Endpoint endpoint;
    private final Runnable wakeUp;

    private RoleChanges(
            int serverId,
            CurrentRoles current,
            OpeningAgent openings,
            CreditReclaim reclaim,
            JoinAgent join,
            Endpoint endpoint,
            Runnable wakeUp) {
        this.serverId = serverId;
        this.current = current;
        this.openings = openings;
        this.reclaim = reclaim;
        this.join = join;
        this.endpoint = endpoint;
        this.wakeUp = wakeUp;
    }

    @SuppressWarnings("TooManyParameters")
    static RoleChanges of(
            ServerContext parts,
            CurrentRoles current,
            DigestAgent digest,
            InFlightWindow inFlightWindow,
            Runnable completeAbandoned,
            ServerLinks links,
            JoinAgent join,
            Endpoint endpoint,
            int maxMessage,
            Runnable wakeUp) {
        final int serverId = parts.segments().area().serverId();
        final OpeningAgent openings = new OpeningAgent(
                serverId,
                current,
                parts.replicas(),
                parts.segments(),
                digest,
                inFlightWindow,
                completeAbandoned,
                links::makeShortLived,
                maxMessage,
                (replica, epoch) -> primaryOf(replica, epoch, parts),
                parts.clock(),
                parts.errors(),
                wakeUp);
        final CreditReclaim reclaim =
                new CreditReclaim(parts.configuration().shardCount(), digest, endpoint, parts.segments());
        return new RoleChanges(serverId, current, openings, reclaim, join, endpoint, wakeUp);
    }

    /** The agent that frees the credit of excluded servers. */
    CreditReclaim reclaim() {
        return reclaim;
    }

    /** Fences a server off this one's backup log for good: none of its writes lands after this returns. */
    public void exclude(int server) {
        final Configuration present = current.get().configuration();
        endpoint.receiveQueue().fence(server);
        reclaim.excluded(server, present.incarnations().get(server), present.primariesOf(server));
        wakeUp.run();
    }

    /** The agent that opens shards, to which messages of other servers go. */
    public OpeningAgent openings() {
        return openings;
    }

    /**
     * This server has prepared a configuration: its tenures are durable, its new replicas are there, the membership view
     * is changed, and the servers that it excludes are fenced.
     */
    public void prepared(Configuration next) {
        openings.prepared(next);
    }

    /**
     * Puts the roles of a committed configuration in force, and begins to open the shards that come to this server. A
     * configuration that is not later than the present one has no effect.
     */
    public synchronized void committed(Configuration next) {
        if (next.term() <= current.get().term()) {
            return;
        }
        final Configuration before = current.get().configuration();
        for (int shard = 0; shard < next.shardCount(); shard++) {
            if (next.isHandedOver(shard, before) && next.shard(shard).isReplica(serverId)) {
                reclaim.handsOver(shard, before.shard(shard).primary());
            }
        }
        final Roles roles = current.follow(next);
        for (ShardPrimary primary : roles.primaries()) {
            final int shard = primary.replica().shardId();
            if (roles.isLeaving(shard)) {
                openings.leave();
            } else {
                primary.versions().renewIfLater(roles.epoch(shard));
            }
        }
        for (int shard = 0; shard < roles.shardCount(); shard++) {
            if (roles.isUnopened(shard)) {
                openings.open(next, shard);
            }
        }
        join.follow(next);
        wakeUp.run();
    }

    /** See {@link Roles#bareTerm}; 0 also while the next primaries may lack the change streams of shards that have left. */
    public long bareTerm() {
        final long term = current.get().bareTerm(); // first: a shard that is seen to have left may owe its stream
        return openings.owesChanges() ? 0 : term;
    }

    /** Whether this server is to open that shard: it serves it soon, or another server does. */
    public boolean isUnopened(int shard) {
        return current.get().isUnopened(shard);
    }

    /** See {@link CurrentRoles#observe}. */
    public void observe(Runnable observer) {
        current.observe(observer);
    }

    /** Shards that are to be opened by this server. */
    public int unopenedShards() {
        final Roles roles = current.get();
        int unopened = 0;
        for (int shard = 0; shard < roles.shardCount(); shard++) {
            unopened += roles.isUnopened(shard) ? 1 : 0;
        }
        return unopened;
    }

    /** A shard's primary at this server, whose versions begin in an epoch. */
    static ShardPrimary primaryOf(ShardReplica replica, int epoch, ServerContext parts) {
        final ServerSettings settings = parts.settings();
        replica.sessions()
                .beginPrimary(settings.sessionsPerTable(
                        parts.segments().count(),
                        parts.segments().length(),
                        parts.configuration().mostReplicas()));
        return new ShardPrimary(replica, new VersionCounter(epoch, replica.shardId(), settings.counters()));
    }
}
