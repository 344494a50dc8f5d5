package org.rowankv.server.pm;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.rowankv.rdma.MemoryRegion;
import org.rowankv.server.pm.SuperblockDescriptor.Content;

/**
 * One server's area as it lies on disk, to look at and not to touch: takes no lock, asks for no consent, writes nothing.
 * For tools that judge a store that nobody has open; while somebody has, what is read may be half written.
 *
 * <p>For one thread.
 */
public final class AreaImage {
    private final Content content;
    private final MemoryRegion region;
    private final SegmentMetaTable segments;
    private final TenureTable tenures;
    private final long segmentBase;

    private AreaImage(Content content, MemoryRegion region, ByteBuffer header) {
        this.content = content;
        this.region = region;
        final DurabilityVerbs none = new MemoryVerbs();
        this.segments = new SegmentMetaTable(
                header, none, AreaDescriptor.segmentMetaOffset(content.shardCount()), content.segmentCount());
        this.tenures = new TenureTable(header, none, content.shardCount());
        this.segmentBase =
                AreaDescriptor.segmentBase(content.shardCount(), content.segmentCount(), content.segmentLength());
    }

    /** The area of a server in a store's directory. */
    public static AreaImage open(Path directory, int server) {
        final Path file = StoreDirectory.areaFile(directory, server);
        return FileThread.call("rowan-area-image", () -> {
            try {
                return map(file);
            } catch (IOException e) {
                throw new StoreOpenException("cannot read the area " + file + ": " + e, e);
            }
        });
    }

    private static AreaImage map(Path file) throws IOException {
        final Content content = AreaFinding.requireSuperblock(file, AreaFinding.readSuperblocks(file));
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            final long length = channel.size();
            final long expected =
                    AreaDescriptor.fileLength(content.shardCount(), content.segmentCount(), content.segmentLength());
            if (length != expected) {
                throw new StoreOpenException(AreaFinding.truncated(file, length, expected));
            }
            final int shift =
                    Math.min(AreaDescriptor.MAX_CHUNK_SHIFT, Long.SIZE - Long.numberOfLeadingZeros(length - 1));
            final ByteBuffer[] chunks = new ByteBuffer[(int) ((length + (1L << shift) - 1) >>> shift)];
            for (int i = 0; i < chunks.length; i++) {
                final long at = (long) i << shift;
                chunks[i] = channel.map(FileChannel.MapMode.READ_ONLY, at, Math.min(1L << shift, length - at));
            }
            final int headerLength = AreaDescriptor.headerLength(content.shardCount(), content.segmentCount());
            final ByteBuffer header = chunks[0].slice(0, headerLength).order(ByteOrder.LITTLE_ENDIAN);
            final AreaImage image = new AreaImage(content, new MemoryRegion(chunks, shift), header);
            AreaFinding.requireTables(file, image.segments.whyInvalid());
            AreaFinding.requireTables(file, image.tenures.whyInvalid());
            return image;
        }
    }

    public MemoryRegion region() {
        return region;
    }

    public int segmentCount() {
        return content.segmentCount();
    }

    public int segmentLength() {
        return content.segmentLength();
    }

    public long addressOf(int segment) {
        return segmentBase + (long) segment * content.segmentLength();
    }

    public SegmentState state(int segment) {
        return segments.state(segment);
    }

    public int generation(int segment) {
        return segments.generation(segment);
    }

    /** The epoch at which the server's present membership of the shard began; 0 when it is no member. */
    public int tenure(int shard) {
        return tenures.tenure(shard);
    }
}
