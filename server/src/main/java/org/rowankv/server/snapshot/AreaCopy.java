package org.rowankv.server.snapshot;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.zip.CRC32C;
import org.rowankv.server.area.Area;
import org.rowankv.server.area.AreaDescriptor;
import org.rowankv.server.area.AreaFile;
import org.rowankv.server.area.AreaProbe;
import org.rowankv.server.area.FileIdentity;
import org.rowankv.server.area.SegmentMetaDescriptor;
import org.rowankv.server.area.SegmentMetaTable;
import org.rowankv.server.area.SegmentOwner;
import org.rowankv.server.area.StoreOpenException;
import org.rowankv.server.area.Superblock;
import org.rowankv.server.area.SuperblockDescriptor.Content;
import org.rowankv.server.area.TenureTable;
import org.rowankv.server.durability.MemoryVerbs;

/**
 * The file of one server's area in a copy made while the server runs. It has its full length from the beginning, and no
 * segment in use. It then receives segments, in any order; at last its tables list them.
 *
 * <p>Guarantees: when {@link #finish} has returned, everything is on the device and was read back. Then the area counts
 * as closed cleanly, since it holds everything that its tables list.
 *
 * <p>Not guaranteed: anything about the received bytes. For one internal thread.
 */
public final class AreaCopy implements AutoCloseable {
    private final Area source;
    private final Path file;
    private final FileChannel channel;
    private final ByteBuffer tables;
    private final int headerLength;
    private final int metaOffset;
    /** A checksum of each received segment. */
    private final int[] checksums;

    private final boolean[] given;

    private AreaCopy(Area source, Path file, FileChannel channel) {
        this.source = source;
        this.file = file;
        this.channel = channel;
        final int shards = source.tenures().shardCount();
        this.metaOffset = AreaDescriptor.segmentMetaOffset(shards);
        this.headerLength = AreaDescriptor.headerLength(shards, source.segmentCount());
        this.tables = ByteBuffer.allocateDirect(headerLength).order(ByteOrder.LITTLE_ENDIAN);
        this.checksums = new int[source.segmentCount()];
        this.given = new boolean[source.segmentCount()];
    }

    static AreaCopy make(Area source, Path file) throws IOException {
        AreaFile.make(file, lengthOf(source), fileIdentity -> {
            final ByteBuffer copies = AreaProbe.superblockBuffer();
            Superblock.format(copies, new MemoryVerbs(), content(source, 0, fileIdentity, false));
            return copies;
        });
        return new AreaCopy(source, file, FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE));
    }

    static long lengthOf(Area source) {
        return AreaDescriptor.fileLength(source.tenures().shardCount(), source.segmentCount(), source.segmentLength());
    }

    private static Content content(Area source, long term, long fileIdentity, boolean clean) {
        final Content present = source.superblock().content();
        return present.next(present.incarnation(), term, present.bootId(), fileIdentity, clean, present.power());
    }

    /**
     * Adds a segment: its bytes, from the buffer's position to its limit, and its use, which must last until this
     * returns.
     */
    public void give(int segment, ByteBuffer bytes) throws IOException {
        checksums[segment] = crcOf(bytes.duplicate());
        given[segment] = true;
        final SegmentMetaTable from = source.segments();
        final int at = metaOffset + segment * SegmentMetaDescriptor.LENGTH;
        final long word = from.word(segment);
        SegmentMetaDescriptor.use(
                tables,
                at,
                segment,
                SegmentMetaDescriptor.owner(word),
                SegmentMetaDescriptor.generation(word),
                from.sequence(segment),
                from.horizon(segment));
        SegmentMetaDescriptor.wordRelease(tables, at, word);
        write(bytes, source.addressOf(segment));
    }

    /**
     * Writes the area's superblocks and tables.
     *
     * @param term of the copy's configuration
     */
    public void finish(long term) throws IOException {
        for (int segment = 0; segment < given.length; segment++) {
            if (!given[segment]) {
                keepSequence(segment);
            }
        }
        final TenureTable tenures =
                new TenureTable(tables, new MemoryVerbs(), source.tenures().shardCount());
        for (int shard = 0; shard < source.tenures().shardCount(); shard++) {
            if (source.tenures().tenure(shard) != 0) {
                tenures.put(shard, source.tenures().tenure(shard));
            }
        }
        Superblock.format(tables, new MemoryVerbs(), content(source, term, FileIdentity.of(file), true));
        write(tables.duplicate().clear(), 0);
        channel.force(true);
        requireReadable();
    }

    /** Opening sequences continue in the copy from the same number: stamps of tombstones are such numbers. */
    private void keepSequence(int segment) {
        final long sequence = source.segments().sequence(segment);
        final int at = metaOffset + segment * SegmentMetaDescriptor.LENGTH;
        SegmentMetaDescriptor.use(tables, at, segment, SegmentOwner.NONE, 0, sequence, sequence);
    }

    private void requireReadable() throws IOException {
        final ByteBuffer front = ByteBuffer.allocateDirect(headerLength);
        read(front, 0);
        if (front.mismatch(tables.duplicate().clear()) >= 0) {
            throw unlike(0);
        }
        final ByteBuffer segmentBytes = ByteBuffer.allocateDirect(source.segmentLength());
        for (int segment = 0; segment < given.length; segment++) {
            if (given[segment]) {
                segmentBytes.clear();
                read(segmentBytes, source.addressOf(segment));
                if (crcOf(segmentBytes) != checksums[segment]) {
                    throw unlike(source.addressOf(segment));
                }
            }
        }
    }

    private StoreOpenException unlike(long offset) {
        return new StoreOpenException("the copy " + file + " does not read back as it was written at offset " + offset
                + ": check that disk, or give a directory on another one");
    }

    private void write(ByteBuffer bytes, long offset) throws IOException {
        long at = offset;
        while (bytes.hasRemaining()) {
            at += channel.write(bytes, at);
        }
    }

    private void read(ByteBuffer into, long offset) throws IOException {
        long at = offset;
        while (into.hasRemaining()) {
            final int read = channel.read(into, at);
            if (read < 0) {
                throw unlike(at);
            }
            at += read;
        }
        into.flip();
    }

    private static int crcOf(ByteBuffer bytes) {
        final CRC32C crc = new CRC32C();
        crc.update(bytes);
        return (int) crc.getValue();
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
