package org.rowankv.server.durability;

import java.nio.ByteBuffer;
import org.rowankv.rdma.MemoryRegion;

/** Where an area's bytes are: mapped from a file, anonymous, or simulated. For any thread. */
public interface AreaMemory {
    MemoryRegion region();

    /** Whether it is mapped from the file of the area's settings, so that the file can be lost. */
    default boolean isMapped() {
        return false;
    }

    /** What stands before the segments, as one buffer. */
    ByteBuffer header();

    /** Gives the memory at the address to the region if it has none yet. */
    void ensureBacked(long address);

    /** Verbs of the level in force. */
    DurabilityVerbs verbs();

    /** Verbs that reach the device, if there is one. */
    DurabilityVerbs device();

    /**
     * Brings ranges to the device, if there is one, with as few writes as it can. Not on an application's thread.
     *
     * @throws RuntimeException if the device cannot; then nothing may be concluded of any of them
     */
    void force(ForceRanges ranges);

    /** Writes everything back to the device, if there is one. */
    void flushAll();
}
