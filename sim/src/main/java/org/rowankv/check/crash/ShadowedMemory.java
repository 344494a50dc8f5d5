package org.rowankv.check.crash;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.file.Path;
import java.util.Objects;
import org.rowankv.rdma.MemoryRegion;
import org.rowankv.server.area.AreaSettings;
import org.rowankv.server.durability.AreaMemory;
import org.rowankv.server.durability.DurabilityVerbs;
import org.rowankv.server.durability.ForceRanges;

/**
 * An area's memory that repeats every force to a {@link Shadow}. It copies the bytes as they were before the force: a
 * store during a force may or may not be included. It copies only after the force has succeeded: no acknowledgement
 * precedes that.
 */
final class ShadowedMemory implements AreaMemory {
    private final AreaMemory below;
    private final MappedByteBuffer shadow;
    private final Shadow file;
    private final int length;

    private ShadowedMemory(AreaMemory below, Shadow file, int length) throws IOException {
        this.below = below;
        this.file = file;
        this.length = length;
        this.shadow = file.map(length);
        if (shadow.getLong(length) != file.nameOfArea()) {
            shadow.putLong(length, 0);
        }
    }

    static AreaMemory around(AreaSettings settings, AreaMemory memory) {
        final Path area = Objects.requireNonNull(settings.file());
        try {
            return new ShadowedMemory(memory, Shadow.of(area), Math.toIntExact(settings.fileLength()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public boolean isMapped() {
        return below.isMapped();
    }

    private byte[] snapshot(long start, long end) {
        final byte[] bytes = new byte[(int) (end - start)];
        region().buffer(start).get(region().offset(start), bytes);
        return bytes;
    }

    @Override
    public void force(ForceRanges ranges) {
        final byte[][] before = new byte[ranges.count()][];
        for (int i = 0; i < before.length; i++) {
            before[i] = snapshot(ranges.start(i), ranges.end(i));
        }
        below.force(ranges);
        for (int i = 0; i < before.length; i++) {
            shadow.put((int) ranges.start(i), before[i]);
        }
    }

    @Override
    public void flushAll() {
        below.flushAll();
        // No writer runs while everything is forced: the area is being opened, or closed.
        shadow.put(0, region().buffer(0), 0, length);
        try {
            shadow.putLong(length, file.nameOfArea());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public DurabilityVerbs device() {
        final DurabilityVerbs device = below.device();
        return new DurabilityVerbs() {
            @Override
            public void flush(long address, long size) {
                final byte[] before = snapshot(address, address + size);
                device.flush(address, size);
                shadow.put((int) address, before);
            }

            @Override
            public void drain() {
                device.drain();
            }
        };
    }

    @Override
    public MemoryRegion region() {
        return below.region();
    }

    @Override
    public ByteBuffer header() {
        return below.header();
    }

    @Override
    public void ensureBacked(long address) {
        below.ensureBacked(address);
    }

    @Override
    public DurabilityVerbs verbs() {
        return below.verbs();
    }
}
