package org.rowankv.server.retention;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.runtime.Clock;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.ShardReplica;

/**
 * A scan of a cache's live objects in one shard, in hash order, a bucket at a time. Under the index lock, so the
 * entries that it copies stay in place. Stateless.
 */
public final class ShardScan {
    private static final int LOCK_OWNER = 1 << 22;

    /** Receives copies. */
    @FunctionalInterface
    public interface Visitor {
        /** @param expiryMs wall-clock milliseconds, or Long.MAX_VALUE for never */
        void onObject(byte[] key, byte @Nullable [] value, long version, long expiryMs);
    }

    private final Segments segments;
    private final Clock clock;

    public ShardScan(Segments segments, Clock clock) {
        this.segments = segments;
        this.clock = clock;
    }

    /**
     * Visits the objects whose positions share a bucket with {@code position}; returns the position after the bucket,
     * or 0 at the end.
     */
    public long bucket(ShardReplica shard, int cacheId, long position, boolean withValues, Visitor visitor) {
        // Unique per thread, since two scans may meet: the lock is reentrant for one owner.
        final int owner = LOCK_OWNER + (int) (Thread.currentThread().getId() & 0xf_ffff);
        shard.index().lock(owner);
        try {
            return shard.index().visit(position, address -> visit(shard, address, cacheId, withValues, visitor));
        } finally {
            shard.index().unlock();
        }
    }

    private void visit(ShardReplica shard, long address, int cacheId, boolean withValues, Visitor visitor) {
        final ByteBuffer buffer = segments.region().buffer(address);
        final int at = segments.region().offset(address);
        final int type = FrameDescriptor.type(FrameDescriptor.wordAcquire(buffer, at));
        final int flags = EntryDescriptor.flags(buffer, at);
        final long expiryMs = EntryDescriptor.expiryMs(buffer, at, flags);
        if (EntryDescriptor.cacheId(buffer, at) != cacheId
                || !shard.isVisible(type, cacheId, EntryDescriptor.version(buffer, at))
                || isExpired(expiryMs)) {
            return;
        }
        final byte[] key = new byte[EntryDescriptor.keyLength(buffer, at)];
        final int keyAt = at + EntryDescriptor.headerLength(flags);
        buffer.get(keyAt, key);
        byte[] value = null;
        if (withValues && (flags & EntryDescriptor.IN_PARTS) == 0) { // else the client reads the parts
            value = new byte[EntryDescriptor.valueLength(buffer, at)];
            buffer.get(keyAt + key.length, value);
        }
        visitor.onObject(key, value, EntryDescriptor.objectVersion(buffer, at, flags), expiryMs);
    }

    private boolean isExpired(long expiryMs) {
        return expiryMs != Long.MAX_VALUE && clock.wallMs() >= expiryMs;
    }
}
