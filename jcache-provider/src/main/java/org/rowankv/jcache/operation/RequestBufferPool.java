package org.rowankv.jcache.operation;

import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.concurrent.SlotPool;

/**
 * Pool of the request buffers of one cache: an operation acquires one, at a slot derived from the thread id, so that a
 * thread mostly reuses its own. If all are in use, it creates a temporary one. Acquiring writes a flag and no
 * reference, which would cost a garbage collector barrier. Thread-safe.
 */
final class RequestBufferPool {
    private final SlotPool pool;
    /** Each element is created and used by the holder of its slot. */
    private final @Nullable RequestBuffer[] buffers;

    private final int cacheId;

    RequestBufferPool(int cacheId, int processors) {
        final int count = Integer.highestOneBit(Math.max(1, 2 * processors - 1)) << 1;
        this.cacheId = cacheId;
        this.pool = new SlotPool(count);
        this.buffers = new @Nullable RequestBuffer[count];
    }

    RequestBuffer acquire() {
        final int slot = pool.tryAcquire();
        if (slot < 0) {
            return new RequestBuffer(cacheId, null, -1);
        }
        final RequestBuffer kept = buffers[slot];
        return kept != null ? kept : create(slot);
    }

    private RequestBuffer create(int slot) {
        RequestBuffer created = null;
        try {
            created = new RequestBuffer(cacheId, pool, slot);
            buffers[slot] = created;
            return created;
        } finally {
            if (created == null) {
                pool.release(slot);
            }
        }
    }
}
