package org.rowankv.runtime;

import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * Hands a fixed number of slots out to threads, each to one at a time: a compare-and-set on the slot's flag, tried first
 * at an index that depends on the thread, so that a thread mostly meets its own. A slot is held by whoever gives it back,
 * which may be another thread.
 */
public final class SlotPool {
    private static final int PADDING = 32; // ints between two flags: two cache lines

    private final AtomicIntegerArray taken;
    private final int count;

    public SlotPool(int count) {
        if (count < 1) {
            throw new IllegalArgumentException("a pool of " + count + " slots");
        }
        this.count = count;
        this.taken = new AtomicIntegerArray((count + 1) * PADDING);
    }

    public int count() {
        return count;
    }

    /** A slot that is now the caller's, or −1 when all are taken. */
    public int tryBorrow() {
        int slot = (int) (Thread.currentThread().getId() % count);
        for (int i = 0; i < count; i++) {
            if (tryBorrow(slot)) {
                return slot;
            }
            slot = slot + 1 == count ? 0 : slot + 1;
        }
        return -1;
    }

    /** Whether that slot is now the caller's. */
    public boolean tryBorrow(int slot) {
        final int flag = (slot + 1) * PADDING;
        return taken.getPlain(flag) == 0 && taken.compareAndSet(flag, 0, 1);
    }

    public void giveBack(int slot) {
        taken.setRelease((slot + 1) * PADDING, 0);
    }
}
