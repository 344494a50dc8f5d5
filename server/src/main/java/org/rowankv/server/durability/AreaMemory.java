package org.rowankv.server.durability;

import java.nio.ByteBuffer;
import org.rowankv.rdma.MemoryRegion;

/** The memory of an area: mapped from a file, anonymous, or simulated. Thread-safe. */
public interface AreaMemory {
    MemoryRegion region();

    /** Whether it is mapped from the file of the area's settings, so that the file can be lost. */
    default boolean isMapped() {
        return false;
    }

    /** The area's header, before the segments, as one buffer. */
    ByteBuffer header();

    /** Adds the memory at the address to the region if it has none yet. */
    void ensureBacked(long address);

    /** Verbs of the level in force. */
    DurabilityVerbs verbs();

    /** Verbs that reach the device, if there is one. */
    DurabilityVerbs device();

    /**
     * Forces ranges to the device, if there is one, with as few writes as possible. Not on an application's thread.
     *
     * @throws RuntimeException on a device failure; then none of the ranges counts as forced
     */
    void force(ForceRanges ranges);

    /** Writes everything back to the device, if there is one. */
    void flushAll();
}
