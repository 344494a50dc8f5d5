package org.rowankv.sim;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.MemoryRegion;
import org.rowankv.runtime.RandomSource;
import org.rowankv.server.pm.AreaMemory;
import org.rowankv.server.pm.AreaSettings;
import org.rowankv.server.pm.Durability;
import org.rowankv.server.pm.DurabilityVerbs;
import org.rowankv.server.pm.ForceRanges;

/**
 * The memory of one server's area. A crash of the process keeps every byte that was stored before it and nothing that is
 * stored after, however long the crashed servers' code goes on unwinding. At the level {@code power} there is a device
 * behind it, which has what was forced and nothing else; a power cut keeps or drops each word that the device has not, by
 * coin. Owned by its simulation.
 */
public final class SimMemory implements AreaMemory {
    private static final int EIGHTHS = 8;

    private final AreaSettings settings;
    private final DurabilityVerbs verbs = new Verbs(false);
    private final DurabilityVerbs device = new Verbs(true);
    private ByteBuffer bytes;
    private ByteBuffer spare;
    /** What the device has; null below the level power. */
    private final @Nullable ByteBuffer durable;

    private MemoryRegion region;

    public SimMemory(AreaSettings settings) {
        this.settings = settings;
        this.bytes = allocate();
        this.spare = allocate();
        this.durable = settings.durability() == Durability.POWER ? allocate() : null;
        this.region = MemoryRegion.of(bytes);
    }

    private ByteBuffer allocate() {
        final int stride = 64;
        return ByteBuffer.allocateDirect((int) settings.fileLength() + stride)
                .alignedSlice(stride)
                .slice(0, (int) settings.fileLength())
                .order(ByteOrder.LITTLE_ENDIAN);
    }

    public boolean suits(AreaSettings other) {
        return other.fileLength() == settings.fileLength() && other.durability() == settings.durability();
    }

    /** As it came from the shop. */
    public void wipe() {
        for (int at = 0; at < bytes.capacity(); at += Long.BYTES) {
            bytes.putLong(at, 0);
        }
        flushAll();
        crash();
    }

    /** The process ends: from now on the present bytes are what a restart finds. */
    public void crash() {
        spare.put(0, bytes, 0, bytes.capacity());
        final ByteBuffer former = bytes;
        bytes = spare;
        spare = former;
        region = MemoryRegion.of(bytes);
    }

    /** The machine ends: a restart finds what the device has. Returns how many words were dropped. */
    public int cutPower(RandomSource random) {
        crash();
        if (durable == null) {
            throw new IllegalStateException("no level but power survives a power cut");
        }
        // Sometimes nearly everything was written back already, sometimes nearly nothing.
        final int kept = random.nextInt(EIGHTHS + 1);
        int dropped = 0;
        for (int at = 0; at < bytes.capacity(); at += Long.BYTES) {
            final long stored = bytes.getLong(at);
            if (stored != durable.getLong(at)) {
                if (random.nextInt(EIGHTHS) < kept) {
                    durable.putLong(at, stored);
                } else {
                    bytes.putLong(at, durable.getLong(at));
                    dropped++;
                }
            }
        }
        return dropped;
    }

    private void force(long start, long end) {
        if (durable != null) {
            durable.put((int) start, bytes, (int) start, (int) (end - start));
        }
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
        return verbs;
    }

    @Override
    public DurabilityVerbs device() {
        return device;
    }

    @Override
    public void force(ForceRanges ranges) {
        for (int i = 0; i < ranges.count(); i++) {
            force(ranges.start(i), ranges.end(i));
        }
    }

    @Override
    public void flushAll() {
        force(0, bytes.capacity());
    }

    /** Those of the level process, which a crash of the process keeps whole, or those of the device. */
    private final class Verbs implements DurabilityVerbs {
        private final boolean reachDevice;

        Verbs(boolean reachDevice) {
            this.reachDevice = reachDevice;
        }

        @Override
        public void flush(long address, long length) {
            if (reachDevice) {
                force(address, address + length);
            }
        }

        @Override
        public void drain() {
            // Every flush has ended.
        }
    }
}
