package org.rowankv.runtime;

import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Slots of which those with low numbers are given out first: so that as many are in use altogether as were at once, whatever
 * threads come and go. That is for slots which cost something once they were used, and for very many threads on few
 * processors; where threads stay, {@link SlotPool} gives each its own, and they do not meet in one word. Thread-safe.
 */
public final class DenseSlotPool implements Slots {
    private final int count;
    /** A bit for each slot: 1 when it is free. */
    private final AtomicLongArray free;

    public DenseSlotPool(int count) {
        if (count < 1) {
            throw new IllegalArgumentException("a pool of " + count + " slots");
        }
        this.count = count;
        this.free = new AtomicLongArray((count + Long.SIZE - 1) / Long.SIZE);
        for (int slot = 0; slot < count; slot++) {
            drop(slot);
        }
    }

    @Override
    public int count() {
        return count;
    }

    @Override
    public int tryBorrow() {
        for (int word = 0; word < free.length(); word++) {
            long bits = free.get(word);
            while (bits != 0) {
                final long lowest = Long.lowestOneBit(bits);
                if (free.compareAndSet(word, bits, bits & ~lowest)) {
                    return word * Long.SIZE + Long.numberOfTrailingZeros(lowest);
                }
                bits = free.get(word);
            }
        }
        return -1;
    }

    @Override
    public void drop(int slot) {
        // Its bit is 0, so that this sets it, in one step and without a loop.
        free.getAndAdd(slot / Long.SIZE, 1L << slot);
    }
}
