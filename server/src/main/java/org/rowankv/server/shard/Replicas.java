package org.rowankv.server.shard;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The shard replicas on one server, by shard id. A place is filled when the server joins a shard, and emptied when it
 * gives the replica up. A replica lives for one tenure: if the server joins the shard again, there is another object.
 *
 * <p>Any thread reads, and finds a complete replica or none. A running server's agents fill and empty the places; a
 * replica that one of them has found in a duty cycle is there until the cycle ends.
 */
public final class Replicas {
    private final AtomicReferenceArray<@Nullable ShardReplica> byShard;
    private volatile List<ShardReplica> all;

    public Replicas(@Nullable ShardReplica[] replicas) {
        this.byShard = new AtomicReferenceArray<>(replicas);
        this.all = present();
    }

    public int shardCount() {
        return byShard.length();
    }

    /** The replicas that this server holds, by shard. Immutable. */
    public List<ShardReplica> all() {
        return all;
    }

    /** The replica of a shard; null if this server holds none, or there is no such shard. */
    public @Nullable ShardReplica find(int shard) {
        return shard >= 0 && shard < byShard.length() ? byShard.get(shard) : null;
    }

    public boolean has(int shard) {
        return find(shard) != null;
    }

    /** Whether that is this server's replica of its shard still, in the same tenure. */
    public boolean has(ShardReplica replica) {
        return replica.equals(find(replica.shardId()));
    }

    /** Whether any replica here is still catching up. */
    public boolean isJoining() {
        final List<ShardReplica> held = all;
        for (int i = 0; i < held.size(); i++) {
            if (held.get(i).isJoining()) {
                return true;
            }
        }
        return false;
    }

    /** The replica of a shard that this server holds. */
    public ShardReplica get(int shard) {
        final ShardReplica replica = byShard.get(shard);
        if (replica == null) {
            throw new AssertionError("this server holds no replica of shard " + shard);
        }
        return replica;
    }

    /** Begins a tenure. By the server's agents; its beginning is durable. */
    public void begin(ShardReplica replica) {
        if (!byShard.compareAndSet(replica.shardId(), null, replica)) {
            throw new AssertionError("this server holds a replica of shard " + replica.shardId());
        }
        all = present();
    }

    /** Ends a tenure. By the server's agents. */
    public void end(ShardReplica replica) {
        if (byShard.compareAndSet(replica.shardId(), replica, null)) {
            all = present();
        }
    }

    private List<ShardReplica> present() {
        final List<ShardReplica> present = new ArrayList<>();
        for (int shard = 0; shard < byShard.length(); shard++) {
            final ShardReplica replica = byShard.get(shard);
            if (replica != null) {
                present.add(replica);
            }
        }
        return List.copyOf(present);
    }
}
