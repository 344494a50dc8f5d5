package org.rowankv.jcache.operation;

import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.concurrent.SlotPool;

/**
 * The scratches of one cache: one is borrowed for one operation, at a slot that the thread's id gives, so that a thread
 * mostly meets its own. When all are taken a new one is made, and dropped after use. Borrowing writes a flag and no
 * reference, which would cost the collector's barrier. Thread-safe.
 */
final class Scratches {
    private final SlotPool pool;
    /** Each element made, and from then on used, by the holder of its slot. */
    private final @Nullable Scratch[] scratches;

    private final int cacheId;

    Scratches(int cacheId, int processors) {
        final int count = Integer.highestOneBit(Math.max(1, 2 * processors - 1)) << 1;
        this.cacheId = cacheId;
        this.pool = new SlotPool(count);
        this.scratches = new @Nullable Scratch[count];
    }

    Scratch borrow() {
        final int slot = pool.tryBorrow();
        if (slot < 0) {
            return new Scratch(cacheId, null, -1);
        }
        final Scratch kept = scratches[slot];
        return kept != null ? kept : make(slot);
    }

    private Scratch make(int slot) {
        Scratch made = null;
        try {
            made = new Scratch(cacheId, pool, slot);
            scratches[slot] = made;
            return made;
        } finally {
            if (made == null) {
                pool.giveBack(slot);
            }
        }
    }
}
