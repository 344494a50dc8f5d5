package org.rowankv.server.area;

import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.Locale;
import org.rowankv.rdma.MemoryRegion;
import org.rowankv.runtime.AlignedBuffers;
import org.rowankv.server.durability.AreaMemory;
import org.rowankv.server.durability.DurabilityVerbs;
import org.rowankv.server.durability.ForceRanges;
import org.rowankv.server.durability.MemoryVerbs;

/**
 * Memory of an area without a file: one direct buffer per segment, allocated when the segment is first used and kept
 * until the area is garbage. An idle area holds little more than its header. Thread-safe; growth is exclusive.
 */
public final class AnonymousMemory implements AreaMemory {
    private static final String LIMIT_OPTION = "-XX:MaxDirectMemorySize";

    private final MemoryRegion region;
    private final ByteBuffer header;
    private final int chunkLength;
    private final DurabilityVerbs verbs = new MemoryVerbs();

    public AnonymousMemory(AreaSettings settings) {
        this.chunkLength = settings.segmentLength();
        requireWithinLimit(settings.capacity());
        final int headerLength = AreaDescriptor.headerLength(settings.shardCount(), settings.segmentCount());
        this.header = allocate(headerLength);
        this.region = new MemoryRegion(settings.fileLength(), Integer.numberOfTrailingZeros(chunkLength));
        for (int at = 0; at < headerLength; at += chunkLength) {
            region.back(at / chunkLength, header.slice(at, Math.min(chunkLength, headerLength - at)));
        }
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
    public synchronized void ensureBacked(long address) {
        if (!region.isBacked(address)) {
            region.back((int) (address / chunkLength), allocate(chunkLength));
        }
    }

    @Override
    public DurabilityVerbs verbs() {
        return verbs;
    }

    @Override
    public DurabilityVerbs device() {
        return verbs;
    }

    @Override
    public void force(ForceRanges ranges) {
        // No device.
    }

    @Override
    public void flushAll() {
        // No device.
    }

    /** Aligned to the stride, so that an atomic word never crosses a cache line. */
    private static ByteBuffer allocate(int length) {
        final int stride = 64;
        try {
            return AlignedBuffers.allocate(length, stride);
        } catch (OutOfMemoryError e) {
            throw new OutOfDirectMemoryException(
                    "no direct memory left for a segment of " + length + " bytes: this JVM may use "
                            + directMemoryLimit()
                            + " bytes for all of its stores. Start it with a larger " + LIMIT_OPTION
                            + ", or open stores with a smaller capacity=, or with a dir=",
                    e);
        }
    }

    /** The common case costs nothing: the JVM's management classes are loaded only near the limit. */
    private static void requireWithinLimit(long capacity) {
        if (capacity <= Runtime.getRuntime().maxMemory()) {
            return;
        }
        final long limit = directMemoryLimit();
        if (capacity > limit) {
            throw new StoreOpenException("capacity=" + capacity + " without dir= is more than the " + limit
                    + " bytes of direct memory this JVM may use: start it with " + LIMIT_OPTION
                    + "=<bytes of all servers of all stores in it>, or give a smaller capacity=, or a dir=");
        }
    }

    /** The JVM's limit of direct memory: its option, or else the heap size. */
    private static long directMemoryLimit() {
        for (String argument : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
            if (argument.startsWith(LIMIT_OPTION + "=")) {
                final long bytes = parseBytes(argument.substring(LIMIT_OPTION.length() + 1));
                if (bytes > 0) {
                    return bytes;
                }
            }
        }
        return Runtime.getRuntime().maxMemory();
    }

    /** A size in the JVM options' syntax: digits and one of k, m, g, t; 0 for anything else. */
    static long parseBytes(String text) {
        final String lower = text.toLowerCase(Locale.ROOT);
        final int unit = lower.isEmpty() ? -1 : "kmgt".indexOf(lower.charAt(lower.length() - 1));
        final String digits = unit < 0 ? lower : lower.substring(0, lower.length() - 1);
        try {
            return Math.multiplyExact(Long.parseLong(digits), 1L << (10 * (unit + 1)));
        } catch (ArithmeticException | NumberFormatException e) {
            return 0;
        }
    }
}
