package org.rowankv.server.shard;

import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * The key locks of a shard: striped by the top bits of a key's position. Held by a mutation, not by a thread, from the
 * check of its condition until its effect is visible. The thread that finishes the mutation releases the lock.
 */
public final class KeyLocks {
    public static final int STRIPES = 64;
    private static final int SHIFT = 64 - 6;

    private final AtomicIntegerArray owners = new AtomicIntegerArray(STRIPES);

    public static int stripeOf(long position) {
        return (int) (position >>> SHIFT);
    }

    /** Reentrant for one owner, which is ≥ 1. */
    public boolean tryLock(int stripe, int owner) {
        final int held = owners.getPlain(stripe);
        return held == owner || held == 0 && owners.compareAndSet(stripe, 0, owner);
    }

    /** A no-op when the owner does not hold the lock, so that an interrupted unlock can be repeated. */
    public void unlock(int stripe, int owner) {
        if (owners.getPlain(stripe) == owner) {
            owners.setRelease(stripe, 0);
        }
    }

    /** The owner of a stripe, or 0. */
    public int owner(int stripe) {
        return owners.getAcquire(stripe);
    }
}
