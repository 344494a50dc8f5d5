package org.rowankv.sim;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
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
 * stored after, however long the crashed server's code goes on unwinding: each process has bytes of its own, which are
 * copied when it ends. At the level {@code power} there is a device behind it, which has what was forced by the process
 * that runs and nothing else; a power cut keeps or drops each word that the device has not, by coin. Owned by its
 * simulation.
 */
public final class SimMemory {
    private static final int EIGHTHS = 8;
    private static final int MOST_SPARE = 3;

    private final AreaSettings settings;
    /** What the device has; null below the level power. */
    private final @Nullable ByteBuffer durable;

    private final Deque<ByteBuffer> spare = new ArrayDeque<>();
    /** Of processes that have ended: their code may still be on its way out, and write there. */
    private final List<ByteBuffer> left = new ArrayList<>();

    private OfProcess present;

    public SimMemory(AreaSettings settings) {
        this.settings = settings;
        this.durable = settings.durability() == Durability.POWER ? allocate() : null;
        this.present = new OfProcess(allocate());
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

    /** What the process has that runs now, or comes next. It is of no use to others once that process has ended. */
    public AreaMemory present() {
        return present;
    }

    /** As it came from the shop. */
    public void wipe() {
        final ByteBuffer bytes = present.bytes;
        for (int at = 0; at < bytes.capacity(); at += Long.BYTES) {
            bytes.putLong(at, 0);
        }
        present.flushAll();
        crash();
    }

    /** The process ends: from now on the present bytes are what a restart finds. */
    public void crash() {
        final ByteBuffer former = present.bytes;
        final ByteBuffer reused = spare.poll();
        final ByteBuffer next = reused == null ? allocate() : reused;
        next.put(0, former, 0, former.capacity());
        left.add(former);
        present = new OfProcess(next);
    }

    /** No code of a process that has ended runs any more: what such processes had may be used again. */
    public void allHaveLeft() {
        for (ByteBuffer bytes : left) {
            if (spare.size() < MOST_SPARE) {
                spare.add(bytes);
            }
        }
        left.clear();
    }

    /** Whether the device has these bytes as the process has them. */
    public boolean isForced(long address, int length) {
        if (durable == null) {
            throw new IllegalStateException("no level but power has a device");
        }
        final ByteBuffer stored = present.bytes.slice((int) address, length);
        return stored.equals(durable.slice((int) address, length));
    }

    /** The machine ends: a restart finds what the device has. Returns how many words were dropped. */
    public int cutPower(RandomSource random) {
        crash();
        if (durable == null) {
            throw new IllegalStateException("no level but power survives a power cut");
        }
        final ByteBuffer bytes = present.bytes;
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

    /** The bytes as one process has them, from its start to its end and however long it takes to leave after that. */
    private final class OfProcess implements AreaMemory {
        private final ByteBuffer bytes;
        private final MemoryRegion region;
        private final DurabilityVerbs verbs = new Verbs(this, false);
        private final DurabilityVerbs device = new Verbs(this, true);

        OfProcess(ByteBuffer bytes) {
            this.bytes = bytes;
            this.region = MemoryRegion.of(bytes);
        }

        private void force(long start, long end) {
            // Whoever has ended does nothing to the device any more either.
            if (durable != null && present == this) {
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
    }

    /** Those of the level process, which a crash of the process keeps whole, or those of the device. */
    private static final class Verbs implements DurabilityVerbs {
        private final OfProcess memory;
        private final boolean reachDevice;

        Verbs(OfProcess memory, boolean reachDevice) {
            this.memory = memory;
            this.reachDevice = reachDevice;
        }

        @Override
        public void flush(long address, long length) {
            if (reachDevice) {
                memory.force(address, address + length);
            }
        }

        @Override
        public void drain() {
            // Every flush has ended.
        }
    }
}
