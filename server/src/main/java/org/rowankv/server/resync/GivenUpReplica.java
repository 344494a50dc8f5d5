package org.rowankv.server.resync;

import java.nio.ByteBuffer;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.server.index.IndexItem;
import org.rowankv.server.index.ShardIndex;
import org.rowankv.server.log.EntryCheck;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryType;
import org.rowankv.server.log.Segments;
import org.rowankv.server.session.SessionTable;
import org.rowankv.server.shard.ShardReplica;

/**
 * The end of a replica: its sessions are closed and its objects leave the index, so that the cleaner frees their space.
 * Some buckets at a time; meanwhile the replica keeps its place, and the cleaner may move what is left. Deletions stay
 * counted until the next start. What is damaged is left to the scrubber. Used by the agents.
 */
final class GivenUpReplica implements ShardIndex.ItemConsumer {
    private static final int LOCK_OWNER = (1 << 20) + 8;
    private static final int BUCKETS_PER_STEP = 256;

    private final Segments segments;
    private final ShardReplica replica;
    private final EntryCheck check;
    private final long[] found = new long[64];
    private int foundCount;
    private long position;
    /** Items that this pass over the index has removed. */
    private long removed;

    private boolean begun;
    private boolean empty;

    GivenUpReplica(Segments segments, ShardReplica replica) {
        this.segments = segments;
        this.replica = replica;
        this.check = new EntryCheck(segments.region());
    }

    ShardReplica replica() {
        return replica;
    }

    /** Whether nothing is left that takes space. */
    boolean isEmpty() {
        return empty;
    }

    /** The next step; returns the space freed. */
    long free() {
        long freed = 0;
        if (position == 0) {
            freed += closeSessions();
            begun = true;
            removed = 0;
        }
        for (int i = 0; i < BUCKETS_PER_STEP && begun; i++) {
            freed += freeBucket();
        }
        return freed;
    }

    private long closeSessions() {
        long freed = 0;
        for (long id : replica.sessions().openIds()) {
            final SessionTable table = replica.sessions(id);
            freed += table.close(id, Long.MAX_VALUE, replica.superseded()::ofOpening);
        }
        return freed;
    }

    private long freeBucket() {
        final ShardIndex index = replica.index();
        long freed = 0;
        index.lock(LOCK_OWNER);
        try {
            foundCount = 0;
            final long next = index.visitItems(position, this);
            for (int i = 0; i < foundCount; i++) {
                freed += free(found[i]);
            }
            removed += foundCount;
            if (foundCount < found.length) {
                position = next;
                begun = next != 0;
                empty = next == 0 && removed == 0; // what had landed by now is not in another bucket either
            }
        } finally {
            index.unlock();
        }
        return freed;
    }

    @Override
    public void accept(long item) {
        final long address = IndexItem.address(item);
        final int type = FrameDescriptor.type(FrameDescriptor.wordPlain(
                segments.region().buffer(address), segments.region().offset(address)));
        if (foundCount < found.length && EntryType.holdsObject(type) && check.isSound(segments, address)) {
            found[foundCount++] = item;
        }
    }

    private int free(long item) {
        final long address = IndexItem.address(item);
        final ByteBuffer entry = segments.region().buffer(address);
        final int at = segments.region().offset(address);
        // Read while the index still points there: afterwards the cleaner may free its segment at any time.
        final int length = FrameDescriptor.length(FrameDescriptor.wordPlain(entry, at));
        final int freed = replica.superseded().deadUnlessKept(entry, at, address, length);
        if (!replica.index().remove(IndexItem.position(item), address)) {
            throw new AssertionError("an item under the index lock is gone");
        }
        replica.counts().removed(EntryDescriptor.cacheId(entry, at), segments.charge(length));
        return freed;
    }
}
