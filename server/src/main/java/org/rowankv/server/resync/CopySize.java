package org.rowankv.server.resync;

import java.nio.ByteBuffer;
import java.util.function.IntToLongFunction;
import org.rowankv.protocol.Version;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.ShardReplica;

/**
 * How much log space the copy of a shard takes where it lands, at most: it is known before the copy begins, so that new
 * writes are not granted what the copy needs. Entries for which a backup takes space by itself do not count. Used by one
 * agent.
 */
final class CopySize {
    private static final int LOCK_OWNER = (1 << 20) + 7;

    private final Segments segments;
    private final ShardReplica replica;
    private final long end;
    private final IntToLongFunction creditOf;
    private long position;
    private boolean over;
    private long bytes;

    /** @param epoch with which the joining replica's tenure began */
    CopySize(Segments segments, ShardReplica replica, int epoch, IntToLongFunction creditOf) {
        this.segments = segments;
        this.replica = replica;
        this.end = Version.of(epoch, 0);
        this.creditOf = creditOf;
    }

    /** Looks at some more buckets; true when all were seen. */
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
        final int type = FrameDescriptor.type(FrameDescriptor.wordPlain(entry, at));
        final long version = EntryDescriptor.version(entry, at);
        if (version < end && replica.isVisible(type, EntryDescriptor.cacheId(entry, at), version)) {
            bytes += spaceOf(entry, at, creditOf);
        }
    }

    static long spaceOf(ByteBuffer entry, int at, IntToLongFunction creditOf) {
        return (EntryDescriptor.flags(entry, at) & EntryDescriptor.WITHOUT_SPACE) != 0
                ? 0
                : creditOf.applyAsLong(EntryDescriptor.usedLength(entry, at));
    }

    long bytes() {
        return bytes;
    }
}
