package org.rowankv.server.checkpoint;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Parts;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.server.index.ExpiryBound;
import org.rowankv.server.index.IndexItem;
import org.rowankv.server.index.ShardIndex;
import org.rowankv.server.log.EntryCheck;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryType;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.ShardReplica;

/**
 * The writer of index images, one shard after the other, a few buckets at a time, in position order, so that growth of
 * the index meanwhile does not matter. Writes address and version of each object; remembered deletions are skipped. For
 * one thread.
 */
final class ImageWriter {
    /** The identity under which it takes index locks. */
    private static final int LOCK_OWNER = (1 << 20) + 16;

    private final CheckpointStore store;
    private final Segments segments;
    private final long areaId;
    private final EntryCheck check;
    private final ByteBuffer block = ImageDescriptor.block();
    /**
     * By cache, whose ids are small and never reused, its parts behind it; and by segment: number of items and their charge.
     */
    private int[] @Nullable [] live = new int[4] @Nullable [];

    private CheckpointStore.@Nullable Writing file;
    private @Nullable ShardReplica replica;
    private long number;
    private long position;
    private int ordinal;
    private int groupAt;
    private int groupCount;
    private long items;
    private long length;

    ImageWriter(CheckpointStore store, Segments segments) {
        this.store = store;
        this.segments = segments;
        this.areaId = segments.area().superblock().areaId();
        this.check = new EntryCheck(segments.region());
    }

    void begin(ShardReplica newReplica, long newNumber) throws IOException {
        drop();
        replica = newReplica;
        number = newNumber;
        position = 0;
        ordinal = 0;
        items = 0;
        length = 0;
        for (int[] ofCache : live) {
            if (ofCache != null) {
                Arrays.fill(ofCache, 0);
            }
        }
        block.clear().position(ImageDescriptor.HEADER_LENGTH);
        file = store.write(Checkpoint.ShardPart.imageFile(newReplica.shardId(), newNumber));
    }

    /** Writes about so many buckets more; true when the image is complete and committed. */
    boolean advance(int buckets) throws IOException {
        final ShardReplica shard = replica;
        final CheckpointStore.Writing out = file;
        if (shard == null || out == null) {
            throw new AssertionError("no image was begun");
        }
        for (int i = 0; i < buckets; i++) {
            position = bucket(shard, out);
            if (position == 0) {
                writeLive(shard, out);
                out.commit();
                file = null;
                return true;
            }
        }
        return false;
    }

    private long bucket(ShardReplica shard, CheckpointStore.Writing out) throws IOException {
        final ShardIndex index = shard.index();
        index.lock(LOCK_OWNER);
        final long next;
        try {
            groupAt = block.position();
            groupCount = 0;
            final long bound = index.expiry().bound(position);
            block.putInt(bound == ExpiryBound.NEVER ? 0 : (int) bound).putInt(0);
            // While the index points there and is locked, the entry there stays.
            next = index.visitItems(position, item -> item(shard, item));
        } catch (UncheckedIOException e) {
            throw e.getCause();
        } finally {
            index.unlock();
        }
        if (groupCount == 0) {
            block.position(groupAt);
        } else {
            block.putInt(groupAt + Integer.BYTES, groupCount);
        }
        if (block.remaining() < ImageDescriptor.MAX_PAYLOAD / 2) {
            write(shard, out, ImageDescriptor.ITEMS);
        }
        return next;
    }

    /** The index is locked. A damaged entry ends the image: a start from it would not see the loss. */
    private void item(ShardReplica shard, long item) {
        final long address = IndexItem.address(item);
        final ByteBuffer buffer = segments.region().buffer(address);
        final int at = segments.region().offset(address);
        final int entryLength = check.soundLength(segments, address);
        if (entryLength == 0) {
            throw damaged(address, "its header");
        }
        if (!EntryType.holdsObject(FrameDescriptor.type(FrameDescriptor.wordPlain(buffer, at)))) {
            return;
        }
        final int segment = segments.segmentOf(address);
        if (!shard.counts().has(EntryDescriptor.cacheId(buffer, at))) {
            segments.damage().suspect(segment, segments.generation(segment));
            throw damaged(address, "its cache");
        }
        if (block.remaining() < ImageDescriptor.ITEM_LENGTH) {
            throw new IllegalStateException("a bucket with more than " + groupCount + " objects");
        }
        block.putLong(item).putLong(EntryDescriptor.version(buffer, at));
        groupCount++;
        items++;
        final int[] ofCache = live(EntryDescriptor.cacheId(buffer, at));
        ofCache[2 * segment]++;
        ofCache[2 * segment + 1] += segments.charge(entryLength);
    }

    private static UncheckedIOException damaged(long address, String what) {
        return new UncheckedIOException(new IOException("the entry at " + address + " is damaged in " + what
                + "; no checkpoint is taken before the entry is repaired or replaced"));
    }

    private int[] live(int cacheId) {
        final int at = 2 * Parts.cacheOf(cacheId) + (Parts.isParts(cacheId) ? 1 : 0);
        if (at >= live.length) {
            live = Arrays.copyOf(live, Math.max(at + 1, 2 * live.length));
        }
        int[] ofCache = live[at];
        if (ofCache == null) {
            ofCache = new int[2 * segments.count()];
            live[at] = ofCache;
        }
        return ofCache;
    }

    private void writeLive(ShardReplica shard, CheckpointStore.Writing out) throws IOException {
        write(shard, out, ImageDescriptor.ITEMS);
        for (int at = 0; at < live.length; at++) {
            final int[] ofCache = live[at];
            final int cacheId = at % 2 == 0 ? at / 2 : Parts.of(at / 2);
            for (int s = 0; ofCache != null && s < segments.count(); s++) {
                if (ofCache[2 * s] != 0) {
                    block.putInt(s).putInt(cacheId).putInt(ofCache[2 * s]).putInt(ofCache[2 * s + 1]);
                    if (block.remaining() < ImageDescriptor.LIVE_LENGTH) {
                        write(shard, out, ImageDescriptor.LIVE);
                    }
                }
            }
        }
        write(shard, out, ImageDescriptor.LIVE);
    }

    private void write(ShardReplica shard, CheckpointStore.Writing out, int kind) throws IOException {
        ImageDescriptor.seal(block, kind, ordinal++, areaId, shard.shardId(), number);
        length += block.remaining();
        out.write(block);
        block.clear().position(ImageDescriptor.HEADER_LENGTH);
    }

    /** Of the last image written. */
    long items() {
        return items;
    }

    long length() {
        return length;
    }

    /** Drops what is not committed. */
    void drop() throws IOException {
        final CheckpointStore.Writing out = file;
        file = null;
        if (out != null) {
            out.close();
        }
    }
}
