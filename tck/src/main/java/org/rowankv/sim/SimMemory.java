package org.rowankv.sim;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.rowankv.rdma.MemoryRegion;
import org.rowankv.server.pm.AreaMemory;
import org.rowankv.server.pm.AreaSettings;
import org.rowankv.server.pm.DurabilityVerbs;

/**
 * The memory of one server's area at the level {@code process}: a crash keeps every byte that was stored before it and
 * nothing that is stored after, however long the crashed servers' code goes on unwinding. Owned by its simulation.
 */
final class SimMemory implements AreaMemory, DurabilityVerbs {
    private final AreaSettings settings;
    private ByteBuffer bytes;
    private ByteBuffer spare;
    private MemoryRegion region;

    SimMemory(AreaSettings settings) {
        this.settings = settings;
        this.bytes = allocate();
        this.spare = allocate();
        this.region = MemoryRegion.of(bytes);
    }

    private ByteBuffer allocate() {
        final int stride = 64;
        return ByteBuffer.allocateDirect((int) settings.fileLength() + stride)
                .alignedSlice(stride)
                .slice(0, (int) settings.fileLength())
                .order(ByteOrder.LITTLE_ENDIAN);
    }

    boolean suits(AreaSettings other) {
        return other.fileLength() == settings.fileLength();
    }

    /** As it came from the shop. */
    void wipe() {
        for (int at = 0; at < bytes.capacity(); at += Long.BYTES) {
            bytes.putLong(at, 0);
        }
        crash();
    }

    /** From now on the present bytes are what a restart finds. */
    void crash() {
        spare.put(0, bytes, 0, bytes.capacity());
        final ByteBuffer former = bytes;
        bytes = spare;
        spare = former;
        region = MemoryRegion.of(bytes);
    }

    @Override
    public MemoryRegion region() {
        return region;
    }

    @Override
    public ByteBuffer header() {
        return bytes;
    }

    @Override
    public void ensureBacked(long address) {
        // All of it is there.
    }

    @Override
    public DurabilityVerbs verbs() {
        return this;
    }

    @Override
    public DurabilityVerbs device() {
        return this;
    }

    @Override
    public void flushAll() {
        // There is no device.
    }

    @Override
    public void flush(long address, long length) {
        // A crash of the process keeps what was stored.
    }

    @Override
    public void drain() {
        // As above.
    }
}
