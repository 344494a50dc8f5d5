package org.rowankv.server.log;

import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.concurrent.SlotPool;

/** Verifies the checksums of an entry that is read, where the settings require it. Thread-safe; allocates nothing. */
public final class ReadCheck {
    private static final int CHECKS = 64;

    private final Segments segments;
    private final SlotPool pool = new SlotPool(CHECKS);
    private final EntryCheck[] checks = new EntryCheck[CHECKS];

    public ReadCheck(Segments segments) {
        this.segments = segments;
        for (int i = 0; i < CHECKS; i++) {
            checks[i] = new EntryCheck(segments.region());
        }
    }

    /**
     * Null for a valid entry. Any other result is meaningless unless the segment still has that generation afterwards.
     */
    public @Nullable String whyInvalid(int segment, long address, int generation) {
        int slot = pool.tryAcquire();
        // Terminates: each other holder checks one entry, and releases its slot in any case.
        while (slot < 0) {
            Thread.onSpinWait();
            slot = pool.tryAcquire();
        }
        try {
            return checks[slot].whyInvalid(address, segments.area().addressOf(segment) + segments.length(), generation);
        } finally {
            pool.drop(slot);
        }
    }
}
