package org.rowankv.server.retention;

import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.rowankv.protocol.PartList;
import org.rowankv.protocol.Parts;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.server.index.ShardIndex;
import org.rowankv.server.log.EntryCheck;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.ShardPrimary;

/**
 * A walk over one shard's index that finds parts without a list. An object that is there throughout is met; so parts whose list
 * could not be put since before the walk, and which it calls orphans, are. Confined to the agents' thread.
 */
final class PartsWalk implements ShardIndex.AddressConsumer {
    private static final int LOCK_OWNER = (1 << 20) + 7;
    private static final int BUCKETS_PER_LOCK = 64;

    /**
     * Parts with one id.
     *
     * @param newestVersion of a part
     */
    record Found(int partsId, int count, long newestVersion) {
        Found and(Found other) {
            return new Found(partsId, Math.max(count, other.count), Math.max(newestVersion, other.newestVersion));
        }
    }

    private final Segments segments;
    private final ShardPrimary primary;
    private final EntryCheck check;
    /** Whether entries that are no parts are compared with their checksums: a damaged one may be a list. */
    private final boolean verifies;

    private final Map<Long, Found> parts = new HashMap<>();
    private final Set<Long> listed = new HashSet<>();
    private boolean damaged;
    private long position;

    PartsWalk(Segments segments, ShardPrimary primary, boolean verifies) {
        this.segments = segments;
        this.primary = primary;
        this.verifies = verifies;
        this.check = new EntryCheck(segments.region());
    }

    /** Visits some buckets; true at the end. */
    boolean advance() {
        final ShardIndex index = primary.replica().index();
        index.lock(LOCK_OWNER);
        try {
            for (int i = 0; i < (verifies ? 1 : BUCKETS_PER_LOCK); i++) {
                position = index.visit(position, this);
                if (position == 0) {
                    return true;
                }
            }
        } finally {
            index.unlock();
        }
        return false;
    }

    @Override
    public void accept(long address) {
        final ByteBuffer entry = segments.region().buffer(address);
        final int at = segments.region().offset(address);
        final long word = FrameDescriptor.wordPlain(entry, at);
        final int length = FrameDescriptor.length(word);
        if (at + length > entry.capacity() || EntryDescriptor.whyMalformed(entry, at, length) != null) {
            damaged = true;
            return;
        }
        final int cacheId = EntryDescriptor.cacheId(entry, at);
        final int flags = EntryDescriptor.flags(entry, at);
        // A list is none, whatever one flipped bit of its cache id says: its parts are not condemned for it.
        final boolean isPart = Parts.isParts(cacheId)
                && EntryDescriptor.keyLength(entry, at) == Parts.KEY_LENGTH
                && (flags & EntryDescriptor.IN_PARTS) == 0;
        if (verifies && !isPart) {
            final int segment = segments.segmentOf(address);
            damaged |= check.whyInvalid(
                            address,
                            segments.area().addressOf(segment) + segments.length(),
                            segments.generation(segment))
                    != null;
        }
        final long version = EntryDescriptor.version(entry, at);
        if (!primary.replica().isVisible(FrameDescriptor.type(word), cacheId, version)) {
            return;
        }
        final int keyAt = at + EntryDescriptor.headerLength(flags);
        if (isPart) {
            final Found found = new Found(cacheId, Parts.number(entry, keyAt) + 1, version);
            parts.merge(Parts.id(entry, keyAt), found, Found::and);
        } else if ((flags & EntryDescriptor.IN_PARTS) != 0) {
            final PartList list = PartList.read(
                    entry, keyAt + EntryDescriptor.keyLength(entry, at), EntryDescriptor.valueLength(entry, at));
            if (list == null) {
                damaged = true;
            } else {
                listed.add(list.id());
            }
        }
    }

    /** By id, the parts without a list. Unreliable if the walk is {@link #isDamaged}. */
    Map<Long, Found> orphans() {
        parts.keySet().removeAll(listed);
        return parts;
    }

    /** Whether something was met that may be a damaged list. */
    boolean isDamaged() {
        return damaged;
    }
}
