package org.rowankv.server.area;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.rowankv.rdma.MemoryRegion;
import org.rowankv.server.durability.AreaMemory;
import org.rowankv.server.durability.DeviceVerbs;
import org.rowankv.server.durability.DurabilityVerbs;
import org.rowankv.server.durability.ForceRanges;
import org.rowankv.server.durability.MemoryVerbs;

/**
 * An area's file, mapped in chunks of at most 1 GiB. The channel is closed once the mappings exist, so that no
 * interrupt can close it in use. Java 17 cannot unmap: the mappings end when the area is garbage. Thread-safe.
 */
final class FileMemory implements AreaMemory {
    private final MemoryRegion region;
    private final ByteBuffer header;
    private final DurabilityVerbs verbs = new MemoryVerbs();
    private final DeviceVerbs device;

    private FileMemory(MappedByteBuffer[] chunks, int chunkShift, int headerLength) {
        this.region = new MemoryRegion(chunks, chunkShift);
        this.header = chunks[0].slice(0, headerLength).order(ByteOrder.LITTLE_ENDIAN);
        this.device = new DeviceVerbs(chunks, chunkShift);
    }

    /** Maps a file that already has the area's length. Uses a FileChannel: only on an internal thread. */
    static FileMemory map(Path file, AreaSettings settings) throws IOException {
        final long length = settings.fileLength();
        final int chunkShift = Math.min(AreaDescriptor.MAX_CHUNK_SHIFT, chunkShiftFor(length));
        final long chunkLength = 1L << chunkShift;
        final MappedByteBuffer[] chunks = new MappedByteBuffer[(int) ((length + chunkLength - 1) >>> chunkShift)];
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            for (int i = 0; i < chunks.length; i++) {
                final long at = (long) i << chunkShift;
                chunks[i] = channel.map(FileChannel.MapMode.READ_WRITE, at, Math.min(chunkLength, length - at));
            }
        }
        return new FileMemory(
                chunks, chunkShift, AreaDescriptor.headerLength(settings.shardCount(), settings.segmentCount()));
    }

    private static int chunkShiftFor(long length) {
        return Long.SIZE - Long.numberOfLeadingZeros(length - 1);
    }

    @Override
    public boolean isMapped() {
        return true;
    }

    @Override
    public MemoryRegion region() {
        return region;
    }

    @Override
    public ByteBuffer header() {
        return header;
    }

    @Override
    public void ensureBacked(long address) {
        // The whole file is mapped, and its blocks exist.
    }

    @Override
    public DurabilityVerbs verbs() {
        return verbs;
    }

    @Override
    public DurabilityVerbs device() {
        return device;
    }

    @Override
    public void force(ForceRanges ranges) {
        device.force(ranges);
    }

    @Override
    public void flushAll() {
        device.flushAll();
    }
}
