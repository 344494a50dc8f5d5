package org.rowankv.server.resync;

import java.nio.ByteBuffer;
import java.util.function.IntToLongFunction;
import org.rowankv.protocol.Version;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.server.log.EntryCheck;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.ShardReplica;

/**
 * The maximum log space of a shard's objects where their copies land. It is known before the copy begins, so that new
 * writes do not get the space that the copy needs. Used by one agent.
 */
final class CopySize {
    private static final int LOCK_OWNER = (1 << 20) + 7;

    private final Segments segments;
    private final ShardReplica replica;
    private final long end;
    private final IntToLongFunction creditOf;
    private final EntryCheck check;
    private long position;
    private boolean over;
    private long bytes;

    /** @param epoch with which the tenure of the replica that is catching up began */
    CopySize(Segments segments, ShardReplica replica, int epoch, IntToLongFunction creditOf) {
        this.segments = segments;
        this.replica = replica;
        this.end = Version.of(epoch, 0);
        this.creditOf = creditOf;
        this.check = new EntryCheck(segments.region());
    }

    /** Visits some more buckets; true after the last one. */
    boolean advance(int buckets) {
        for (int i = 0; i < buckets && !over; i++) {
            replica.index().lock(LOCK_OWNER);
            try {
                position = replica.index().visit(position, this::add);
            } finally {
                replica.index().unlock();
            }
            over = position == 0;
        }
        return over;
    }

    private void add(long address) {
        final ByteBuffer entry = segments.region().buffer(address);
        final int at = segments.region().offset(address);
        final int length = check.soundLength(segments, address);
        if (length == 0 || EntryDescriptor.whyMalformed(entry, at, length) != null) {
            return; // damaged: it is not copied
        }
        final int type = FrameDescriptor.type(FrameDescriptor.wordPlain(entry, at));
        final long version = EntryDescriptor.version(entry, at);
        if (version < end && replica.isVisible(type, EntryDescriptor.cacheId(entry, at), version)) {
            bytes += creditOf.applyAsLong(EntryDescriptor.usedLength(entry, at));
        }
    }

    long bytes() {
        return bytes;
    }
}
