package org.rowankv.server.request;

import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Change;
import org.rowankv.protocol.ChangeType;
import org.rowankv.protocol.ResultBits;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.runtime.Chaos;
import org.rowankv.server.log.EntryCheck;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryType;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.ShardChanges;
import org.rowankv.server.shard.ShardReplica;

/**
 * The change that an entry makes, as change streams report it. Copied before the entry takes effect: its key's lock is
 * held and the index still points to the entry it replaces.
 */
final class ChangeCapture {
    /** Attempts to read an old value that the cleaner moves meanwhile; after that the change counts as lost. */
    private static final int MAX_READS = 64;

    private final Segments segments;
    private final EntryCheck check;

    ChangeCapture(Segments segments) {
        this.segments = segments;
        this.check = new EntryCheck(segments.region());
    }

    /**
     * The change that the entry at an address makes; null if it makes none, the cache has no subscribers, or the entry
     * is damaged: then its subscribers receive a loss.
     *
     * @param cacheId as in the entry when it was written
     * @param version as in the entry when it was written
     * @param replaces whether there is an object under the key, as the planner found
     */
    @Nullable
    Change of(ShardReplica shard, long position, long address, int type, int cacheId, long version, boolean replaces) {
        if (type != EntryType.PUT && type != EntryType.DELETE) {
            return null;
        }
        final int requested = shard.changes().requested(cacheId);
        if (requested == ShardChanges.NOT_REQUESTED) {
            return null;
        }
        final ByteBuffer entry = segments.region().buffer(address);
        final int at = segments.region().offset(address);
        try {
            Chaos.point("stream.before-copy");
            final int length = FrameDescriptor.length(FrameDescriptor.wordPlain(entry, at));
            if (at + length > entry.capacity() || EntryDescriptor.whyMalformed(entry, at, length) != null) {
                return damaged(shard, address, cacheId, version);
            }
            final int flags = EntryDescriptor.flags(entry, at);
            final ChangeType change = typeOf(type, EntryDescriptor.resultBits(flags));
            final int keyAt = at + EntryDescriptor.headerLength(flags);
            final byte[] key = bytes(entry, keyAt, EntryDescriptor.keyLength(entry, at));
            final byte[] value =
                    change.hasValue() ? bytes(entry, keyAt + key.length, EntryDescriptor.valueLength(entry, at)) : null;
            // After the copy: a backup that is away may have delayed the mutation, and bits may have flipped since.
            if (!isWhole(address)) {
                return damaged(shard, address, cacheId, version);
            }
            return new Change(
                    version,
                    change,
                    key,
                    value,
                    requested == ShardChanges.REQUESTED_WITH_OLD_VALUE && replaces
                            ? oldValue(shard, position, cacheId, key, address)
                            : null,
                    change.hasValue() && (flags & EntryDescriptor.IN_PARTS) != 0);
        } catch (OutOfMemoryError e) {
            // The entry is in the logs and will take effect, so its subscribers receive a loss.
            shard.changes().lost(cacheId, version);
            return null;
        }
    }

    private boolean isWhole(long address) {
        final int segment = segments.segmentOf(address);
        return check.whyInvalid(
                        address, segments.area().addressOf(segment) + segments.length(), segments.generation(segment))
                == null;
    }

    private @Nullable Change damaged(ShardReplica shard, long address, int cacheId, long version) {
        final int segment = segments.segmentOf(address);
        segments.damage().suspect(segment, segments.generation(segment));
        shard.changes().lost(cacheId, version);
        return null;
    }

    private static ChangeType typeOf(int type, int bits) {
        if (type == EntryType.PUT) {
            return ResultBits.has(bits, ResultBits.UPDATED) ? ChangeType.UPDATED : ChangeType.CREATED;
        }
        return ResultBits.has(bits, ResultBits.EVICTED)
                ? ChangeType.EVICTED
                : ResultBits.has(bits, ResultBits.REMOVED) ? ChangeType.REMOVED : ChangeType.EXPIRED;
    }

    private static byte[] bytes(ByteBuffer buffer, int at, int length) {
        final byte[] copy = new byte[length];
        buffer.get(at, copy);
        return copy;
    }

    /**
     * The value that the index points to; null if that is the entry itself, which is already applied, is unreadable, or is in
     * parts.
     */
    private byte @Nullable [] oldValue(ShardReplica shard, long position, int cacheId, byte[] key, long own) {
        long refused = 0;
        for (int looks = 0; looks < MAX_READS; looks++) {
            final long address = shard.index().findLikely(position, refused, cacheId, key, 0, key.length);
            if (address == 0 || address == own) {
                return null;
            }
            final int segment = segments.segmentOf(address);
            final int generation = segments.generation(segment);
            if (!shard.index().refers(position, address, cacheId, key, 0, key.length)) {
                refused = address;
                continue;
            }
            final ByteBuffer buffer = segments.region().buffer(address);
            final int at = segments.region().offset(address);
            final long word = FrameDescriptor.wordAcquire(buffer, at);
            final int length = FrameDescriptor.length(word);
            if (at + length > buffer.capacity()
                    || EntryDescriptor.whyMalformed(buffer, at, length) != null
                    || !EntryType.holdsObject(FrameDescriptor.type(word))) {
                continue;
            }
            final int flags = EntryDescriptor.flags(buffer, at);
            final int valueAt = at + EntryDescriptor.headerLength(flags) + EntryDescriptor.keyLength(buffer, at);
            final int valueLength = EntryDescriptor.valueLength(buffer, at);
            // Re-read after its check: the segment may have been reused since.
            if (valueLength < 0 || valueLength > length || valueAt < at || valueAt > buffer.capacity() - valueLength) {
                continue;
            }
            final byte[] copy = bytes(buffer, valueAt, valueLength);
            // After the copy: the entry may be damaged since the mutation was decided, or was not checked then.
            final boolean whole =
                    check.whyInvalid(address, segments.area().addressOf(segment) + segments.length(), generation)
                            == null;
            VarHandle.acquireFence();
            if (segments.generation(segment) == generation && !segments.damage().isLost(address, generation)) {
                if (!whole) {
                    segments.damage().suspect(segment, generation);
                }
                return whole && (flags & EntryDescriptor.IN_PARTS) == 0 ? copy : null;
            }
        }
        return null;
    }
}
