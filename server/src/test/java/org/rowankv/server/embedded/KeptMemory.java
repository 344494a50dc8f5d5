package org.rowankv.server.embedded;

import java.nio.ByteBuffer;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.MemoryRegion;
import org.rowankv.runtime.AlignedBuffers;
import org.rowankv.server.area.AreaSettings;
import org.rowankv.server.durability.AreaMemory;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.durability.DurabilityVerbs;
import org.rowankv.server.durability.ForceRanges;

/**
 * The bytes of one server's area, as its process sees them. A copy is the state after a kill at that moment. At level
 * {@code power} there is also a device with the forced bytes: a power cut keeps or drops each piece that is not on it.
 */
final class KeptMemory implements AreaMemory {
    private static final int STRIDE = 64;
    private static final int EIGHTHS = 8;
    private static final int[] PIECES = {Long.BYTES, STRIDE, 512, 4096};

    private final ByteBuffer bytes;
    /** Null below level power. */
    private final @Nullable ByteBuffer durable;

    private final MemoryRegion region;
    private final DurabilityVerbs verbs = new Verbs(false);
    private final DurabilityVerbs device = new Verbs(true);

    KeptMemory(AreaSettings settings) {
        this(
                allocate((int) settings.fileLength()),
                settings.durability() == Durability.POWER ? allocate((int) settings.fileLength()) : null);
    }

    private KeptMemory(ByteBuffer bytes, @Nullable ByteBuffer durable) {
        this.bytes = bytes;
        this.durable = durable;
        this.region = MemoryRegion.of(bytes);
    }

    private static ByteBuffer allocate(int length) {
        return AlignedBuffers.allocate(length, STRIDE);
    }

    private static @Nullable ByteBuffer copyOf(@Nullable ByteBuffer original) {
        return original == null ? null : allocate(original.capacity()).put(0, original, 0, original.capacity());
    }

    /** The state that the next process finds if this one is killed now. */
    KeptMemory copy() {
        return new KeptMemory(allocate(bytes.capacity()).put(0, bytes, 0, bytes.capacity()), copyOf(durable));
    }

    /**
     * A power cut: each piece that is not on the device is kept or dropped. A piece is a word, a line, a sector or a
     * page. With single words hardly an entry stays whole; with larger pieces some do, with and without what precedes
     * them.
     */
    void cutPower(Random random) {
        if (durable == null) {
            throw new IllegalStateException("no level but power survives a power cut");
        }
        final int piece = PIECES[random.nextInt(PIECES.length)];
        final int kept = random.nextInt(EIGHTHS + 1);
        for (int at = 0; at < bytes.capacity(); at += piece) {
            final int length = Math.min(piece, bytes.capacity() - at);
            if (bytes.slice(at, length).equals(durable.slice(at, length))) {
                continue;
            }
            if (random.nextInt(EIGHTHS) < kept) {
                durable.put(at, bytes, at, length);
            } else {
                bytes.put(at, durable, at, length);
            }
        }
    }

    /** A power cut of words alone: each one that is not on the device is kept by a coin with odds of its own. */
    void tearWords(Random random) {
        final ByteBuffer device = durable;
        if (device == null) {
            throw new IllegalStateException("no level but power survives a power cut");
        }
        final int kept = random.nextInt(EIGHTHS + 1);
        for (int at = differs(device, 0); at >= 0; at = differs(device, at + Long.BYTES)) {
            if (random.nextInt(EIGHTHS) < kept) {
                device.putLong(at, bytes.getLong(at));
            } else {
                bytes.putLong(at, device.getLong(at));
            }
        }
    }

    /**
     * Stores words as they are in a later state, in order of address; the device has none of them yet.
     *
     * @return how many were stored, at most {@code limit}
     */
    int store(KeptMemory later, int limit) {
        int stored = 0;
        for (int at = differs(later.bytes, 0); at >= 0 && stored < limit; at = differs(later.bytes, at + Long.BYTES)) {
            bytes.putLong(at, later.bytes.getLong(at));
            stored++;
        }
        return stored;
    }

    /** The first word from there that differs, or −1. */
    private int differs(ByteBuffer other, int from) {
        final int length = bytes.capacity() - from;
        final int found = bytes.slice(from, length).mismatch(other.slice(from, length));
        return found < 0 ? -1 : from + found & -Long.BYTES;
    }

    /** Takes the state of another area of this shape. */
    void become(KeptMemory other) {
        bytes.put(0, other.bytes, 0, bytes.capacity());
        if (durable != null && other.durable != null) {
            durable.put(0, other.durable, 0, durable.capacity());
        }
    }

    private void forceRange(long start, long end) {
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
        // All bytes are present.
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
            forceRange(ranges.start(i), ranges.end(i));
        }
    }

    @Override
    public void flushAll() {
        forceRange(0, bytes.capacity());
    }

    private final class Verbs implements DurabilityVerbs {
        private final boolean reachDevice;

        Verbs(boolean reachDevice) {
            this.reachDevice = reachDevice;
        }

        @Override
        public void flush(long address, long length) {
            if (reachDevice) {
                forceRange(address, address + length);
            }
        }

        @Override
        public void drain() {
            // Every flush has ended.
        }
    }
}
