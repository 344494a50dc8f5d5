package org.rowankv.sim.device;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.MemoryRegion;
import org.rowankv.runtime.AlignedBuffers;
import org.rowankv.runtime.RandomSource;
import org.rowankv.server.area.AreaSettings;
import org.rowankv.server.durability.AreaMemory;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.durability.DurabilityVerbs;
import org.rowankv.server.durability.ForceRanges;

/**
 * The memory of one server's area. A crash of the process keeps every byte stored before it and nothing stored after.
 * The crashed server's code may take long to unwind, so each process has its own bytes, copied when it ends. At the
 * durability level {@code power} it has a device, which holds exactly what the running process has forced. A power cut
 * keeps or drops each word that the device does not hold, at random. Owned by its simulation.
 */
public final class SimMemory {
    private static final int MOST_SPARE = 3;

    private final AreaSettings settings;
    /** Null below the level power. */
    private final @Nullable Device device;

    private final Deque<ByteBuffer> spare = new ArrayDeque<>();
    /** Bytes of ended processes: their code may still unwind, and write there. */
    private final List<ByteBuffer> left = new ArrayList<>();

    private OfProcess present;
    /** The bytes at the end of an earlier process; null if none were saved. */
    private @Nullable ByteBuffer kept;

    public SimMemory(AreaSettings settings) {
        this.settings = settings;
        this.device = settings.durability() == Durability.POWER ? new Device(allocate()) : null;
        this.present = new OfProcess(allocate());
    }

    private ByteBuffer allocate() {
        return AlignedBuffers.allocate((int) settings.fileLength(), 64);
    }

    public boolean suits(AreaSettings other) {
        return other.fileLength() == settings.fileLength() && other.durability() == settings.durability();
    }

    /** The memory of the running or next process. Unusable once that process has ended. */
    public AreaMemory present() {
        return present;
    }

    /** Only at the level power. */
    public Device device() {
        if (device == null) {
            throw new IllegalStateException("only the level power has a device");
        }
        return device;
    }

    public boolean hasDevice() {
        return device != null;
    }

    /** Restores the initial state. */
    public void wipe() {
        kept = null;
        if (device != null) {
            device.reset();
        }
        final ByteBuffer bytes = present.bytes;
        for (int at = 0; at < bytes.capacity(); at += Long.BYTES) {
            bytes.putLong(at, 0);
        }
        present.flushAll();
        crash();
    }

    /** Ends the process: a restart finds the present bytes. */
    public void crash() {
        final ByteBuffer former = present.bytes;
        final ByteBuffer reused = spare.poll();
        final ByteBuffer next = reused == null ? allocate() : reused;
        next.put(0, former, 0, former.capacity());
        left.add(former);
        present = new OfProcess(next);
        if (device != null) {
            device.replaced();
        }
    }

    /** Flips bits of a byte, in the memory and on the device. */
    public void flip(long address, int mask) {
        final int at = (int) address;
        present.bytes.put(at, (byte) (present.bytes.get(at) ^ mask));
        if (device != null) {
            device.flip(at, mask);
        }
    }

    /** Between two processes: saves the content of the area. */
    public void keep() {
        ByteBuffer copy = kept;
        if (copy == null) {
            copy = allocate();
            kept = copy;
        }
        copy.put(0, present.bytes, 0, copy.capacity());
    }

    public boolean hasKept() {
        return kept != null;
    }

    /** Between two processes: restores the saved content. */
    public void putBackKept() {
        final ByteBuffer copy = kept;
        if (copy == null) {
            throw new IllegalStateException("nothing was saved");
        }
        present.bytes.put(0, copy, 0, copy.capacity());
        if (device != null) {
            device.overwrite(copy);
        }
    }

    /** No code of an ended process runs any more: memory of such processes may be reused. */
    public void allHaveLeft() {
        for (ByteBuffer bytes : left) {
            if (spare.size() < MOST_SPARE) {
                spare.add(bytes);
            }
        }
        left.clear();
    }

    /** Whether the device holds these bytes as the process has them. */
    public boolean isForced(long address, int length) {
        return device().hasForced(present.bytes, (int) address, length);
    }

    /**
     * Ends the machine: a restart finds the content of the device. Returns the number of dropped words.
     *
     * @param happened receives lost sectors and forces
     */
    public int cutPower(RandomSource random, Consumer<String> happened) {
        crash();
        return device().cutPower(present.bytes, random, happened);
    }

    /** The bytes of one process, from its start until its code has unwound. */
    private final class OfProcess implements AreaMemory {
        private final ByteBuffer bytes;
        private final MemoryRegion region;
        private final DurabilityVerbs verbs = new Verbs(this, false);
        private final DurabilityVerbs device = new Verbs(this, true);

        OfProcess(ByteBuffer bytes) {
            this.bytes = bytes;
            this.region = MemoryRegion.of(bytes);
        }

        /** Null if there is no device, or after the end of its process: it then no longer affects the device. */
        private @Nullable Device reached() {
            return present == this ? SimMemory.this.device : null;
        }

        /** One write of its own. */
        private void write(long start, long end) {
            final Device reached = reached();
            if (reached != null) {
                reached.begin(false);
                reached.writeOrEnd(bytes, (int) start, (int) end);
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
            // Everything is present.
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
            final Device reached = reached();
            if (reached == null || ranges.count() == 0) {
                return;
            }
            reached.begin(true);
            for (int i = 0; i < ranges.count(); i++) {
                reached.write(bytes, (int) ranges.start(i), (int) ranges.end(i));
            }
        }

        @Override
        public void flushAll() {
            write(0, bytes.capacity());
        }
    }

    /** The durability verbs of the level process, which a process crash preserves whole, or those of the device. */
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
                memory.write(address, address + length);
            }
        }

        @Override
        public void drain() {
            // Every flush has completed.
        }
    }
}
