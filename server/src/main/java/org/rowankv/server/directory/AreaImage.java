package org.rowankv.server.directory;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.MemoryRegion;
import org.rowankv.server.area.AreaDescriptor;
import org.rowankv.server.area.AreaProbe;
import org.rowankv.server.area.AreaSettings;
import org.rowankv.server.area.BootId;
import org.rowankv.server.area.FileIdentity;
import org.rowankv.server.area.SegmentMetaTable;
import org.rowankv.server.area.SegmentOwner;
import org.rowankv.server.area.SegmentState;
import org.rowankv.server.area.StoreOpenException;
import org.rowankv.server.area.SuperblockDescriptor;
import org.rowankv.server.area.SuperblockDescriptor.Content;
import org.rowankv.server.area.SuperblockReading;
import org.rowankv.server.area.TenureTable;
import org.rowankv.server.durability.DurabilityVerbs;
import org.rowankv.server.durability.FileThread;
import org.rowankv.server.durability.MemoryVerbs;

/**
 * A read-only view of one server's area on disk, for tools: takes no lock, needs no override, writes nothing. For tools
 * that examine a closed store; while a store is open, bytes may be half written.
 *
 * <p>For one thread.
 */
public final class AreaImage {
    private final Path file;
    private final Content content;
    private final SuperblockReading superblock;
    private final MemoryRegion region;
    private final SegmentMetaTable segments;
    private final TenureTable tenures;
    private final long segmentBase;
    private final List<Damage> damages = new ArrayList<>();
    private final BitSet damagedSegments = new BitSet();

    private AreaImage(
            Path file, Content content, SuperblockReading superblock, MemoryRegion region, ByteBuffer header) {
        this.file = file;
        this.content = content;
        this.superblock = superblock;
        this.region = region;
        final DurabilityVerbs none = new MemoryVerbs();
        this.segments = new SegmentMetaTable(
                header, none, AreaDescriptor.segmentMetaOffset(content.shardCount()), content.segmentCount());
        this.tenures = new TenureTable(header, none, content.shardCount());
        this.segmentBase =
                AreaDescriptor.segmentBase(content.shardCount(), content.segmentCount(), content.segmentLength());
        checkTables();
    }

    private void checkTables() {
        final int[] offsets = {AreaDescriptor.SUPERBLOCK_A_OFFSET, AreaDescriptor.SUPERBLOCK_B_OFFSET};
        for (int i = 0; i < offsets.length; i++) {
            final String reason = superblock.copies().get(i);
            if (!reason.equals(SuperblockReading.VALID)) {
                damages.add(new Damage(file, offsets[i], "superblock, copy " + "AB".charAt(i) + ": " + reason));
            }
        }
        if (content.incomplete()) {
            damages.add(
                    new Damage(
                            file,
                            SuperblockDescriptor.offsetOf(content.sequence()) + SuperblockDescriptor.INCOMPLETE_OFFSET,
                            "marked as incomplete: an entry that landed here was found damaged, so an acknowledged entry is missing"));
        }
        for (int shard = 0; shard < content.shardCount(); shard++) {
            note(tenures.wordOffset(shard), tenures.whyInvalid(shard));
        }
        for (int segment = 0; segment < content.segmentCount(); segment++) {
            if (note(segments.lineOffset(segment), segments.whyInvalid(segment))) {
                damagedSegments.set(segment);
            }
        }
    }

    private boolean note(long offset, @Nullable String reason) {
        if (reason != null) {
            damages.add(new Damage(file, offset, reason));
        }
        return reason != null;
    }

    /**
     * Opens the area of a server in a store's directory.
     *
     * @throws StoreOpenException if its superblock or one of its tables is damaged
     */
    public static AreaImage open(Path directory, int server) {
        final AreaImage image = read(StoreDirectory.areaFile(directory, server));
        image.requireTables();
        return image;
    }

    public void requireTables() {
        AreaProbe.requireTables(file, segments.whyInvalid());
        AreaProbe.requireTables(file, tenures.whyInvalid());
    }

    /**
     * Reads an area with one intact copy of the superblock; other damage before its segments is collected in {@link
     * #damages}.
     */
    static AreaImage read(Path file) {
        return FileThread.call("rowan-area-image", () -> {
            try {
                return map(file);
            } catch (IOException e) {
                throw new StoreOpenException("cannot read the area " + file + ": " + e, e);
            }
        });
    }

    private static AreaImage map(Path file) throws IOException {
        final ByteBuffer copies = AreaProbe.readSuperblocks(file);
        final Content content = AreaProbe.requireSuperblock(file, copies);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            final long length = channel.size();
            final long expected =
                    AreaDescriptor.fileLength(content.shardCount(), content.segmentCount(), content.segmentLength());
            if (length != expected) {
                throw AreaProbe.truncated(file, length, expected);
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
            return new AreaImage(
                    file, content, reading(file, copies, content), new MemoryRegion(chunks, shift), header);
        }
    }

    private static SuperblockReading reading(Path file, ByteBuffer copies, Content content) throws IOException {
        return new SuperblockReading(
                SuperblockDescriptor.FORMAT_VERSION,
                List.of(
                        verdict(SuperblockDescriptor.whyInvalid(copies, AreaDescriptor.SUPERBLOCK_A_OFFSET)),
                        verdict(SuperblockDescriptor.whyInvalid(copies, AreaDescriptor.SUPERBLOCK_B_OFFSET))),
                content.sequence(),
                content.serverId(),
                Long.toHexString(content.clusterId()),
                Long.toHexString(content.areaId()),
                content.incarnation(),
                content.term(),
                content.bootId().toString(),
                content.bootId().equals(BootId.current()),
                FileIdentity.isCopy(content.fileIdentity(), FileIdentity.of(file)),
                content.clean());
    }

    private static String verdict(@Nullable String reason) {
        return reason == null ? SuperblockReading.VALID : reason;
    }

    void requireMatch(AreaSettings settings) {
        AreaProbe.requireMatch(file, content, settings);
    }

    public Path file() {
        return file;
    }

    public SuperblockReading superblock() {
        return superblock;
    }

    /** The damage before the segments. */
    public List<Damage> damages() {
        return List.copyOf(damages);
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

    /** Also the offset in the file. */
    public long addressOf(int segment) {
        return segmentBase + (long) segment * content.segmentLength();
    }

    /** Whether the segment's line in the meta table is intact; otherwise the segment has no known state. */
    public boolean isKnown(int segment) {
        return !damagedSegments.get(segment);
    }

    public SegmentState state(int segment) {
        return segments.state(segment);
    }

    public SegmentOwner owner(int segment) {
        return segments.owner(segment);
    }

    public int generation(int segment) {
        return segments.generation(segment);
    }

    public int shardCount() {
        return content.shardCount();
    }

    /** The epoch at which the server's present membership of the shard began; 0 when it is no member. */
    public int tenure(int shard) {
        return tenures.tenure(shard);
    }
}
