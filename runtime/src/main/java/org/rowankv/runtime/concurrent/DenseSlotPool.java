package org.rowankv.runtime.concurrent;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A slot pool that hands out the lowest free slot. So the number of slots ever used equals the peak of concurrent use.
 * It suits slots that cost resources once used, and many threads on few processors. With long-lived threads, {@link
 * SlotPool} gives each thread its own slot and avoids contention on one word. Thread-safe.
 */
public final class DenseSlotPool implements Slots {
    private static final VarHandle WORDS = MethodHandles.arrayElementVarHandle(long[].class);

    private final int count;
    /** One bit per slot: 1 when free. */
    private final long[] free;

    public DenseSlotPool(int count) {
        if (count < 1) {
            throw new IllegalArgumentException("a pool of " + count + " slots");
        }
        this.count = count;
        this.free = new long[(count + Long.SIZE - 1) / Long.SIZE];
        for (int slot = 0; slot < count; slot++) {
            drop(slot);
        }
    }

    @Override
    public int count() {
        return count;
    }

    @Override
    public int tryAcquire() {
        for (int word = 0; word < free.length; word++) {
            long bits = (long) WORDS.getVolatile(free, word);
            while (bits != 0) {
                final long lowest = Long.lowestOneBit(bits);
                if (WORDS.compareAndSet(free, word, bits, bits & ~lowest)) {
                    return word * Long.SIZE + Long.numberOfTrailingZeros(lowest);
                }
                bits = (long) WORDS.getVolatile(free, word);
            }
        }
        return -1;
    }

    @Override
    public void drop(int slot) {
        final long unused = (long) WORDS.getAndBitwiseOr(free, slot / Long.SIZE, 1L << slot);
    }
}
