package org.rowankv.server.shard;

import java.lang.invoke.VarHandle;
import org.rowankv.topology.Configuration;

/**
 * The {@link Roles} in force at one server. A change is one volatile write of another snapshot. A reader takes one
 * snapshot per duty cycle or operation, so that all it sees of primaries, backups and epochs is of one configuration.
 *
 * <p>Any thread reads and replaces.
 */
public final class CurrentRoles {
    private volatile Roles roles;
    private volatile Runnable observer = () -> {};

    public CurrentRoles(Roles first) {
        this.roles = first;
    }

    public Roles get() {
        return roles;
    }

    /** Sets what is called behind each change, by the thread that made it. It must not block. */
    public void observe(Runnable newObserver) {
        observer = newObserver;
    }

    private void set(Roles next) {
        roles = next;
        observer.run();
    }

    /**
     * Whether that primary is in force still. Behind reads of its replica: if so, all of them are of its time, for what
     * follows a change of the roles is visible only with that change.
     */
    public boolean has(ShardPrimary primary) {
        VarHandle.acquireFence();
        return roles.has(primary);
    }

    /** As above, for a primary of these roles: most often they are in force still. */
    public boolean has(ShardPrimary primary, Roles before) {
        VarHandle.acquireFence();
        final Roles now = roles;
        return now == before || now.has(primary);
    }

    /**
     * Puts the roles of a later configuration in force, or those of the present one with more open shards.
     *
     * @throws IllegalArgumentException if the term is lower, or the numbers of shards or servers differ: agents
     *     size their state by these once
     */
    public synchronized void replace(Roles next) {
        final Roles present = roles;
        if (next.term() < present.term()) {
            throw new IllegalArgumentException("roles of term " + next.term() + " after term " + present.term());
        }
        if (next.shardCount() != present.shardCount() || next.serverCount() != present.serverCount()) {
            throw new IllegalArgumentException("roles of " + next.shardCount() + " shards and " + next.serverCount()
                    + " servers after " + present.shardCount() + " and " + present.serverCount());
        }
        set(next);
    }

    /**
     * Puts the roles of a later configuration in force. Shards that stay here keep their primaries; those that come to
     * this server are {@linkplain #open opened} afterwards.
     *
     * @throws IllegalArgumentException as {@link #replace}
     */
    public synchronized Roles follow(Configuration later) {
        final Roles next = roles.next(later, shard -> null);
        replace(next);
        return next;
    }

    /**
     * Whether that primary is in force and may take versions. Behind the announcement of a version: what makes the shard
     * leave, and then finds nothing announced, can rely on it that none is taken any more.
     */
    public boolean mayBegin(ShardPrimary primary) {
        final Roles now = roles;
        return now.has(primary) && !now.isClosed(primary.replica().shardId());
    }

    /**
     * The primary of a shard that leaves this server begins nothing any more, until roles of another term are in force;
     * returns the present term.
     */
    public synchronized long close(int shard) {
        final Roles present = roles;
        if (present.isLeaving(shard) && !present.isClosed(shard)) {
            set(present.closing(shard));
        }
        return present.term();
    }

    /**
     * The shard leaves this server; false if it does not, or has left.
     *
     * @param term in which it was {@linkplain #close closed}, before nothing of it was found under way; false if there is
     *     another one by now: then both are to be done again
     */
    public synchronized boolean left(int shard, long term) {
        final Roles present = roles;
        if (!present.isLeaving(shard) || present.term() != term) {
            return false;
        }
        set(present.left(shard));
        return true;
    }

    /**
     * Puts a primary in force.
     *
     * @param epoch for which its shard was opened
     * @return false if by now the roles give the shard to another server, or in another epoch
     */
    public synchronized boolean open(int epoch, ShardPrimary primary) {
        final Roles present = roles;
        final int shard = primary.replica().shardId();
        if (!present.isUnopened(shard) || present.epoch(shard) != epoch) {
            return false;
        }
        set(present.opened(primary));
        return true;
    }
}
