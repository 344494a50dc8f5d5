package org.rowankv.server.resync;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.Chaos;
import org.rowankv.server.area.SegmentOwner;
import org.rowankv.server.area.SegmentState;
import org.rowankv.server.digest.DigestAgent;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.Replicas;
import org.rowankv.server.shard.ShardReplica;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.KeyHash;

/**
 * The beginnings and ends of tenures while the server runs. The thread that follows the configuration asks for them;
 * the agents perform them, in order, between two duty cycles, so that each of the agents finds a replica or none.
 *
 * <p>{@link #join} and {@link #follow} are for one thread at a time, {@link #step} is for the agents'.
 */
final class TenureChanges {
    /** A horizon that precedes everything. */
    private static final int OLDEST = 1;

    private record Change(ShardReplica replica, boolean begins) {}

    private final int serverId;
    private final DigestAgent digest;
    private final Segments segments;
    private final Replicas replicas;
    private final Queue<Change> asked = new ConcurrentLinkedQueue<>();

    /** By shard: the replica that was asked for, and perhaps has not begun. Of the asking thread. */
    private final @Nullable ShardReplica[] awaited;
    /**
     * Of the asking thread: replicas that some configuration named as complete, or did not name. If a later one names
     * them as joining, this server has left and come back, and they miss what was written meanwhile.
     */
    private final Set<ShardReplica> past = new HashSet<>();

    private @Nullable GivenUpReplica ending;

    TenureChanges(int serverId, DigestAgent digest, Segments segments, Replicas replicas) {
        this.serverId = serverId;
        this.digest = digest;
        this.segments = segments;
        this.replicas = replicas;
        this.awaited = new @Nullable ShardReplica[replicas.shardCount()];
        replicas.all().stream().filter(replica -> !replica.isJoining()).forEach(past::add);
    }

    /** See {@link JoinAgent#join}. */
    boolean join(Configuration next) {
        final List<ShardReplica> begun = new ArrayList<>();
        for (int shard = 0; shard < next.shardCount(); shard++) {
            final ShardReplica held = newest(shard);
            if (next.shard(shard).isJoining(serverId)) {
                if (held == null || past.contains(held)) {
                    begun.add(joining(next, shard));
                }
            } else if (held != null) {
                past.add(held);
            }
        }
        if (!begun.isEmpty()) {
            begun.forEach(replica -> segments.area().tenures().put(replica.shardId(), replica.tenure()));
            segments.area().drain();
            Chaos.point("join.tenure");
            for (ShardReplica replica : begun) {
                awaited[replica.shardId()] = replica;
                asked.add(new Change(replica, true));
            }
        }
        boolean areAllThere = true;
        for (int shard = 0; shard < awaited.length; shard++) {
            areAllThere &= isThere(shard);
        }
        return areAllThere;
    }

    private @Nullable ShardReplica newest(int shard) {
        final ShardReplica replica = awaited[shard];
        return replica == null ? replicas.find(shard) : replica;
    }

    private boolean isThere(int shard) {
        final ShardReplica replica = awaited[shard];
        if (replica != null && replicas.has(replica)) {
            awaited[shard] = null;
        }
        return awaited[shard] == null;
    }

    private ShardReplica joining(Configuration next, int shard) {
        final ShardReplica replica = new ShardReplica(
                shard,
                next.shardCount(),
                new KeyHash(next.hashSeed()),
                segments,
                next.shard(shard).epoch());
        replica.beginJoining();
        return replica;
    }

    /** See {@link JoinAgent#follow}. */
    void follow(Configuration inForce) {
        for (int shard = 0; shard < awaited.length; shard++) {
            final ShardReplica held = newest(shard);
            if (held != null && !inForce.shard(shard).isReplica(serverId)) {
                awaited[shard] = null;
                asked.add(new Change(held, false));
            }
        }
        past.removeIf(replica -> !replicas.has(replica));
    }

    /** Performs what was asked for; returns the number of steps. */
    int step() {
        int count = 0;
        while (ending == null && !asked.isEmpty()) {
            final Change next = asked.remove();
            if (next.begins()) {
                begin(next.replica());
            } else {
                end(next.replica());
            }
            count++;
        }
        return count + stepOfEnd();
    }

    private void begin(ShardReplica replica) {
        final ShardReplica before = replicas.find(replica.shardId());
        if (before != null) {
            end(before);
            while (ending != null) {
                final int unused = stepOfEnd(); // the configuration waits for the new tenure
            }
        }
        digest.tenureChanges(replica.shardId());
        lowerHorizons();
        replicas.begin(replica);
        Chaos.point("join.begun");
    }

    /**
     * What is copied may have been ended by entries that land before it. So where it may land no tombstone counts as
     * younger: in segments posted by now, as in those posted while a replica is catching up.
     */
    private void lowerHorizons() {
        for (int segment = 0; segment < segments.count(); segment++) {
            if (segments.state(segment) == SegmentState.USING
                    && segments.owner(segment) == SegmentOwner.BACKUP
                    && !segments.isClosed(segment)) {
                segments.lowerHorizon(segment, OLDEST);
            }
        }
    }

    private void end(ShardReplica replica) {
        if (replicas.has(replica)) {
            ending = new GivenUpReplica(segments, replica);
        }
    }

    /** Frees a part of the replica that ends; at the end it leaves its place. */
    private int stepOfEnd() {
        final GivenUpReplica leaving = ending;
        if (leaving == null) {
            return 0;
        }
        segments.space().release(leaving.free());
        if (leaving.isEmpty()) {
            leaving.replica().tail().trim(Long.MAX_VALUE); // it holds segments
            replicas.end(leaving.replica());
            digest.tenureChanges(leaving.replica().shardId());
            ending = null;
        }
        return 1;
    }
}
