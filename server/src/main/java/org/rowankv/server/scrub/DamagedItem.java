package org.rowankv.server.scrub;

import java.nio.ByteBuffer;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.Replicas;
import org.rowankv.server.shard.ShardReplica;

/**
 * An item of the index that points to no whole entry, and which whole entries of other replicas are that entry.
 *
 * @param type of the entry, or 0 if its publication word is damaged
 * @param charge of the entry, or 0 if unknown
 */
record DamagedItem(Segments segments, ShardReplica replica, long position, long address, int type, int charge) {
    /** Whether its publication word is that of an entry; otherwise the scan of the segment skips it. */
    boolean hasWord() {
        return type != 0;
    }

    /** Not once its replica is given up. */
    boolean isReferredTo(Replicas replicas) {
        return replicas.has(replica) && replica.index().refers(position, address);
    }

    /**
     * Whether it is the entry, which is committed: it has the same version, which is unique, or the same key and is the
     * newest there and on all replicas.
     */
    boolean isThat(ByteBuffer entry) {
        return hasItsVersion(entry) || isOfItsKey(entry) && isCommitted(entry);
    }

    /** Whether {@link #isThat} waits for knowledge that it is on all replicas. */
    boolean mayBeThat(ByteBuffer entry) {
        return isOfItsKey(entry) && !isCommitted(entry);
    }

    /**
     * Whether it is the entry, which may be uncommitted, and is on all replicas. The checksum tells an older version
     * from a damaged one. The key must be whole: else a newer entry of the key has an item of its own.
     */
    boolean isExactlyThat(ByteBuffer entry) {
        return hasItsVersion(entry) && isOfItsKey(entry) && hasItsChecksum(entry) && isCommitted(entry);
    }

    private boolean hasItsChecksum(ByteBuffer entry) {
        return FrameDescriptor.bodyCrc(entry, 0)
                == FrameDescriptor.bodyCrc(
                        segments.region().buffer(address), segments.region().offset(address));
    }

    private boolean isCommitted(ByteBuffer entry) {
        return EntryDescriptor.version(entry, 0) <= replica.commitVersion();
    }

    private boolean hasItsVersion(ByteBuffer entry) {
        return isOfItsShard(entry)
                && EntryDescriptor.version(entry, 0)
                        == EntryDescriptor.version(
                                segments.region().buffer(address),
                                segments.region().offset(address));
    }

    private boolean isOfItsShard(ByteBuffer entry) {
        return EntryDescriptor.shard(entry, 0) == replica.shardId();
    }

    private boolean isOfItsKey(ByteBuffer entry) {
        final ByteBuffer buffer = segments.region().buffer(address);
        final int at = segments.region().offset(address);
        final int length = EntryDescriptor.keyLength(entry, 0);
        final int keyAt = at + EntryDescriptor.headerLength(EntryDescriptor.flags(buffer, at));
        if (!isOfItsShard(entry)
                || EntryDescriptor.cacheId(buffer, at) != EntryDescriptor.cacheId(entry, 0)
                || EntryDescriptor.keyLength(buffer, at) != length
                || keyAt + length > buffer.capacity()) {
            return false;
        }
        final int entryKeyAt = EntryDescriptor.headerLength(EntryDescriptor.flags(entry, 0));
        for (int i = 0; i < length; i++) {
            if (entry.get(entryKeyAt + i) != buffer.get(keyAt + i)) {
                return false;
            }
        }
        return true;
    }
}
