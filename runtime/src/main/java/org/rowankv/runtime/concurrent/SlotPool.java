package org.rowankv.runtime.concurrent;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Hands a fixed number of slots out to threads, each to one at a time: a compare-and-set on the slot's flag, tried first
 * at an index that depends on the thread, so that a thread mostly meets its own. A slot is held by whoever gives it back,
 * which may be another thread.
 *
 * <p>A slot that is not given back is lost for good. Whoever holds one while it calls what may throw gives it back in
 * two ways: by {@link #giveBack} where all went well, and by {@link #drop} in the {@code finally} that an error leads to. The
 * error may be the end of the stack, which the first, with what it calls, could meet once more.
 */
public final class SlotPool implements Slots {
    private final Slot[] slots;

    public SlotPool(int count) {
        if (count < 1) {
            throw new IllegalArgumentException("a pool of " + count + " slots");
        }
        this.slots = new Slot[count];
        for (int i = 0; i < count; i++) {
            slots[i] = new Slot();
        }
    }

    @Override
    public int count() {
        return slots.length;
    }

    @Override
    public int tryBorrow() {
        final int count = slots.length;
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
        final Slot wanted = slots[slot];
        return (int) Slot.TAKEN.get(wanted) == 0 && Slot.TAKEN.compareAndSet(wanted, 0, 1);
    }

    public void giveBack(int slot) {
        Slot.TAKEN.setRelease(slots[slot], 0);
    }

    /** As {@link #giveBack}, at the price of a full fence; calls nothing, so that it needs no stack but its own frame. */
    @Override
    public void drop(int slot) {
        slots[slot].taken = 0;
    }

    /** Longer than two cache lines, so that no two flags share one. */
    private static final class Slot {
        static final VarHandle TAKEN;

        static {
            try {
                TAKEN = MethodHandles.lookup().findVarHandle(Slot.class, "taken", int.class);
            } catch (ReflectiveOperationException e) {
                throw new ExceptionInInitializerError(e);
            }
        }

        @SuppressWarnings("UnusedVariable") // read by its handle
        volatile int taken;

        @SuppressWarnings("unused")
        private long p00, p01, p02, p03, p04, p05, p06, p07, p08, p09, p10, p11, p12, p13, p14, p15;
    }
}
