package org.rowankv.server.checkpoint;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import org.rowankv.server.checkpoint.Checkpoint.ShardPart;
import org.rowankv.server.index.ExpiryBound;
import org.rowankv.server.index.IndexItem;
import org.rowankv.server.index.ShardIndex;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.CheckpointBound;
import org.rowankv.server.shard.ShardReplica;

/** The reader of one shard's index image into the index. For one thread. */
final class ImageReader {
    private final Segments segments;
    private final boolean[] covered;
    private final int[] live;
    private final ByteBuffer block = ImageDescriptor.block();
    /** The items of a group that are loaded. */
    private long[] group = new long[16];

    /** @param covered the segments whose items are loaded unchanged; items of others only name their entries */
    ImageReader(Segments segments, boolean[] covered) {
        this.segments = segments;
        this.covered = covered;
        this.live = new int[covered.length];
    }

    /**
     * Loads the index.
     *
     * @throws IOException if the image is damaged; then the index is empty or half full
     */
    void load(CheckpointStore store, long areaId, ShardPart part, ShardReplica replica, CheckpointBound bound)
            throws IOException {
        replica.beginLoad(part.items());
        long items = 0;
        long length = 0;
        boolean live = false;
        try (ReadableByteChannel file = store.read(part.imageFile())) {
            for (int ordinal = 0; length < part.imageLength(); ordinal++) {
                readBlock(file, block);
                if (!ImageDescriptor.isValid(block, ordinal, areaId, part.shard(), part.imageNumber())) {
                    throw new IOException("block " + ordinal + " of " + part.imageFile() + " is damaged");
                }
                length += block.limit();
                live = ImageDescriptor.kind(block) == ImageDescriptor.LIVE;
                block.position(ImageDescriptor.HEADER_LENGTH);
                if (live) {
                    readLive(replica);
                } else {
                    items += readItems(part, replica.index(), bound);
                }
            }
        }
        if (!live || length != part.imageLength() || items != part.items()) {
            throw new IOException(part.imageFile() + " is not the image that the checkpoint names");
        }
    }

    /** Reads an image without using it; throws its first fault. */
    static void verify(CheckpointStore store, long areaId, ShardPart part) throws IOException {
        final ByteBuffer block = ImageDescriptor.block();
        long length = 0;
        try (ReadableByteChannel file = store.read(part.imageFile())) {
            for (int ordinal = 0; length < part.imageLength(); ordinal++) {
                readBlock(file, block);
                if (!ImageDescriptor.isValid(block, ordinal, areaId, part.shard(), part.imageNumber())) {
                    throw new IOException("block " + ordinal + " of " + part.imageFile() + " is damaged");
                }
                length += block.limit();
            }
        }
    }

    private static void readBlock(ReadableByteChannel file, ByteBuffer block) throws IOException {
        read(file, block, 0, ImageDescriptor.HEADER_LENGTH);
        final int payload = ImageDescriptor.payloadLength(block);
        if (payload < 0) {
            throw new IOException("the length of a block is damaged");
        }
        read(file, block, ImageDescriptor.HEADER_LENGTH, payload);
        block.position(0);
    }

    private static void read(ReadableByteChannel file, ByteBuffer block, int at, int length) throws IOException {
        block.limit(at + length).position(at);
        while (block.hasRemaining()) {
            if (file.read(block) < 0) {
                throw new EOFException("it ends too early");
            }
        }
    }

    private long readItems(ShardPart part, ShardIndex index, CheckpointBound bound) {
        long items = 0;
        final long base = segments.area().segmentBase();
        final int shift = Integer.numberOfTrailingZeros(segments.length());
        int at = block.position();
        final int end = block.limit();
        while (at < end) {
            final int seconds = block.getInt(at);
            final long expiry = seconds == 0 ? ExpiryBound.NEVER : seconds & 0xffff_ffffL;
            final int count = block.getInt(at + Integer.BYTES);
            at += ImageDescriptor.GROUP_LENGTH;
            if (count > group.length) {
                group = new long[count];
            }
            int loaded = 0;
            for (int i = 0; i < count; i++, at += ImageDescriptor.ITEM_LENGTH) {
                final long item = block.getLong(at);
                final int segment = (int) (IndexItem.address(item) - base >> shift);
                if (covered[segment]) {
                    group[loaded++] = item;
                } else {
                    final long version = block.getLong(at + Long.BYTES);
                    if (version <= part.itemsUpTo()) {
                        bound.name(version);
                    }
                }
            }
            index.load(group, loaded, expiry);
            items += count;
        }
        return items;
    }

    private void readLive(ShardReplica replica) {
        while (block.hasRemaining()) {
            final int segment = block.getInt();
            final int cacheId = block.getInt();
            final int objects = block.getInt();
            final int charge = block.getInt();
            live[segment] += charge;
            if (covered[segment]) {
                replica.counts().loaded(cacheId, objects, charge);
            }
        }
    }

    /** The charge of the items in a segment, over the images read so far. */
    int liveBytes(int segment) {
        return live[segment];
    }
}
