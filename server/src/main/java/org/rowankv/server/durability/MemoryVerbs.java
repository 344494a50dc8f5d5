package org.rowankv.server.durability;

import java.lang.invoke.VarHandle;

/**
 * Verbs of the levels {@link Durability#NONE} and {@link Durability#PROCESS}: memory, or pages that the operating
 * system keeps when the process is killed. A killed thread's stores reach them in the order they retire, which is
 * program order as far as the compiler kept it. So a drain is a fence against the compiler and costs nothing on x86.
 * Thread-safe.
 */
public final class MemoryVerbs implements DurabilityVerbs {
    @Override
    public void flush(long address, long length) {
        // The pages are in place already.
    }

    @Override
    public void drain() {
        VarHandle.releaseFence();
    }
}
