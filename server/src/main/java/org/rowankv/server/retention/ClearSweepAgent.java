package org.rowankv.server.retention;

import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.runtime.agent.Agent;
import org.rowankv.server.index.IndexItem;
import org.rowankv.server.index.ShardIndex;
import org.rowankv.server.log.EntryCheck;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryType;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.Replicas;
import org.rowankv.server.shard.ShardReplica;

/**
 * Removes from the indexes what a clear has ended, and frees its space: after the clear, in hash order, a few buckets
 * at a time. A cleared cache is empty at once; only its space waits for the sweep.
 */
public final class ClearSweepAgent implements Agent, ShardIndex.ItemConsumer {
    private static final int LOCK_OWNER = (1 << 20) + 2;
    private static final int BUCKETS_PER_TURN = 256;

    private final Segments segments;
    private final Replicas replicas;
    private final EntryCheck check;
    private final long[] cleared = new long[64];
    private final long[] clearedPositions = new long[cleared.length];
    private int clearedCount;
    /** Null if none is swept. */
    private @Nullable ShardReplica sweeping;

    /** The clears that the sweep covers. */
    private int covered;

    private boolean hasLeftSomething;
    /** The shard swept last. */
    private int lastShard;

    private long position;
    private volatile boolean idle = true;

    public ClearSweepAgent(Segments segments, Replicas replicas) {
        this.segments = segments;
        this.replicas = replicas;
        this.check = new EntryCheck(segments.region());
    }

    @Override
    public String roleName() {
        return "sweep";
    }

    @Override
    public int doWork() {
        if (sweeping != null && !replicas.has(sweeping)) {
            sweeping = null; // given up
        }
        if (sweeping == null && !findShard()) {
            idle = true;
            return 0;
        }
        idle = false;
        for (int i = 0; i < BUCKETS_PER_TURN && sweeping != null; i++) {
            sweepBucket(sweeping);
        }
        return 1;
    }

    /** Goes on behind the last one: each clear concerns all shards, and the next may come before all are swept. */
    private boolean findShard() {
        final int shards = replicas.shardCount();
        for (int i = 1; i <= shards; i++) {
            final int shard = (lastShard + i) % shards;
            final ShardReplica replica = replicas.find(shard);
            if (replica != null && !replica.clears().isSwept()) {
                sweeping = replica;
                covered = replica.clears().beginSweep();
                hasLeftSomething = false;
                position = 0;
                lastShard = shard;
                return true;
            }
        }
        return false;
    }

    private void sweepBucket(ShardReplica replica) {
        final ShardIndex index = replica.index();
        clearedCount = 0;
        long freed = 0;
        index.lock(LOCK_OWNER);
        try {
            final long next = index.visitItems(position, this);
            for (int i = 0; i < clearedCount; i++) {
                freed += remove(replica, clearedPositions[i], cleared[i]);
            }
            if (clearedCount < cleared.length) {
                position = next;
                if (next == 0) {
                    replica.clears().endSweep(covered, !hasLeftSomething);
                    sweeping = null;
                }
            }
        } finally {
            index.unlock();
        }
        if (freed > 0) {
            segments.space().release(freed);
        }
    }

    @Override
    public void accept(long item) {
        final long address = IndexItem.address(item);
        final ByteBuffer entry = segments.region().buffer(address);
        final int at = segments.region().offset(address);
        final int type = FrameDescriptor.type(FrameDescriptor.wordPlain(entry, at));
        final ShardReplica replica = sweeping;
        if (replica != null
                && EntryType.holdsObject(type)
                && EntryDescriptor.version(entry, at)
                        <= replica.clears().clearedUpTo(EntryDescriptor.cacheId(entry, at))
                && clearedCount < cleared.length) {
            if (!check.isSound(segments, address)) {
                hasLeftSomething = true; // one flipped bit makes any entry look cleared
                return;
            }
            clearedPositions[clearedCount] = IndexItem.position(item);
            cleared[clearedCount++] = address;
        }
    }

    private int remove(ShardReplica replica, long itemPosition, long address) {
        final ByteBuffer entry = segments.region().buffer(address);
        final int at = segments.region().offset(address);
        // Read while the index still points there: afterwards the cleaner may free its segment at any time.
        final int length = FrameDescriptor.length(FrameDescriptor.wordPlain(entry, at));
        final int freed = replica.superseded().deadUnlessKept(entry, at, address, length);
        if (!replica.index().remove(itemPosition, address)) {
            throw new AssertionError("an item under the index lock is gone");
        }
        replica.counts().removed(EntryDescriptor.cacheId(entry, at), segments.charge(length));
        return freed;
    }

    /** Whether every clear so far was swept. Called on the agent's thread, or accurate as of its last cycle. */
    public boolean isDone() {
        final List<ShardReplica> held = replicas.all();
        for (int i = 0; i < held.size(); i++) {
            if (!held.get(i).clears().isSwept()) {
                return false;
            }
        }
        return true;
    }

    /**
     * The number of a segment. What was ended by clears whose entries have smaller stamps is removed from all indexes, and
     * counted dead. Any thread.
     */
    public long horizon() {
        // First: a clear that is not seen below is applied after this, and stamped later still.
        long oldest = segments.lastSequence();
        final List<ShardReplica> held = replicas.all();
        for (int i = 0; i < held.size(); i++) {
            oldest = Math.min(oldest, held.get(i).clears().horizon());
        }
        return oldest;
    }

    /** Whether nothing waits to be swept, as of the last cycle. */
    public boolean isIdle() {
        return idle;
    }
}
