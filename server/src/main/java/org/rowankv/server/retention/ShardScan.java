package org.rowankv.server.retention;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.runtime.Clock;
import org.rowankv.server.dispatch.NotServedException;
import org.rowankv.server.index.IndexItem;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.ReadCheck;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.ShardReplica;

/**
 * A scan of a cache's live objects in one shard, in hash order, a bucket at a time. Under the index lock, so the
 * entries that it copies stay in place. An entry whose damage is known, or makes it look like none, ends it.
 * Stateless.
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
    private final ReadCheck check;
    private final boolean verify;

    /** @param verify whether every entry read is checked, or only doubtful ones */
    public ShardScan(Segments segments, Clock clock, ReadCheck check, boolean verify) {
        this.segments = segments;
        this.clock = clock;
        this.check = check;
        this.verify = verify;
    }

    /**
     * Visits the objects whose positions share a bucket with {@code position} and do not precede it; returns the position
     * after the bucket, or 0 at the end.
     *
     * @throws NotServedException with the status CORRUPTED if one of them is damaged, as far as is known
     */
    public long bucket(ShardReplica shard, int cacheId, long position, boolean withValues, Visitor visitor) {
        // Unique per thread, since two scans may meet: the lock is reentrant for one owner.
        final int owner = LOCK_OWNER + (int) (Thread.currentThread().getId() & 0xf_ffff);
        shard.index().lock(owner);
        try {
            return shard.index().visitItems(position, item -> {
                // The position is perhaps another server's, whose buckets are smaller.
                if (Long.compareUnsigned(IndexItem.position(item), position) >= 0) {
                    visit(shard, IndexItem.address(item), cacheId, withValues, visitor);
                }
            });
        } finally {
            shard.index().unlock();
        }
    }

    private void visit(ShardReplica shard, long address, int cacheId, boolean withValues, Visitor visitor) {
        final ByteBuffer buffer = segments.region().buffer(address);
        final int at = segments.region().offset(address);
        final boolean ofCache = EntryDescriptor.cacheId(buffer, at) == cacheId;
        if (!ofCache && !verify && shard.counts().has(EntryDescriptor.cacheId(buffer, at))) {
            return; // of another cache, and not of one that only a flipped bit names
        }
        final long word = FrameDescriptor.wordAcquire(buffer, at);
        final int length = FrameDescriptor.length(word);
        final boolean readable =
                length <= buffer.capacity() - at && EntryDescriptor.whyMalformed(buffer, at, length) == null;
        final int flags = EntryDescriptor.flags(buffer, at);
        final long expiryMs = readable ? EntryDescriptor.expiryMs(buffer, at, flags) : 0;
        final boolean live = readable
                && ofCache
                && shard.isVisible(FrameDescriptor.type(word), cacheId, EntryDescriptor.version(buffer, at))
                && !isExpired(expiryMs);
        requireWhole(shard.shardId(), address, ofCache && (live || !readable), live);
        if (!live) {
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

    /**
     * @param shown whether the entry may be an object of the cache, by what can be read of it
     * @param live whether it certainly is one by that
     */
    private void requireWhole(int shard, long address, boolean shown, boolean live) {
        final int segment = segments.segmentOf(address);
        final int generation = segments.generation(segment);
        final boolean isLost = segments.damage().isLost(address, generation);
        // One flipped bit makes an object look cleared or over: it would be left out here, and present on other
        // replicas.
        if (!isLost && (verify || !live) && check.whyInvalid(segment, address, generation) != null) {
            segments.damage().suspect(segment, generation);
            throw NotServedException.damaged(shard);
        }
        // Nothing better is to come, so what looks cleared is left out: else a clear would not help.
        if (isLost && shown) {
            throw NotServedException.damaged(shard);
        }
    }

    private boolean isExpired(long expiryMs) {
        return expiryMs != Long.MAX_VALUE && clock.wallMs() >= expiryMs;
    }
}
