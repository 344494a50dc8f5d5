package org.rowankv.jcache.operation;

import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.concurrent.SlotPool;

/**
 * The scratches of one cache: one is borrowed for one operation, at a slot that the thread's id gives, so that a thread
 * mostly meets its own. When all are taken a new one is made, and dropped after use. Borrowing writes a flag and no
 * reference, which would cost the collector's barrier. Thread-safe.
 */
final class RequestBufferPool {
    private final SlotPool pool;
    /** Each element made, and from then on used, by the holder of its slot. */
    private final @Nullable RequestBuffer[] scratches;

    private final int cacheId;

    RequestBufferPool(int cacheId, int processors) {
        final int count = Integer.highestOneBit(Math.max(1, 2 * processors - 1)) << 1;
        this.cacheId = cacheId;
        this.pool = new SlotPool(count);
        this.scratches = new @Nullable RequestBuffer[count];
    }

    RequestBuffer borrow() {
        final int slot = pool.tryBorrow();
        if (slot < 0) {
            return new RequestBuffer(cacheId, null, -1);
        }
        final RequestBuffer kept = scratches[slot];
        return kept != null ? kept : make(slot);
    }

    private RequestBuffer make(int slot) {
        RequestBuffer made = null;
        try {
            made = new RequestBuffer(cacheId, pool, slot);
            scratches[slot] = made;
            return made;
        } finally {
            if (made == null) {
                pool.giveBack(slot);
            }
        }
    }
}
