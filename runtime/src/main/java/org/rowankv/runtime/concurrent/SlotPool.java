package org.rowankv.runtime.concurrent;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A fixed number of slots, each held by one thread at a time. Acquire is a compare-and-set on the slot's flag, tried
 * first at an index derived from the thread. So a thread mostly finds its own slot. The releasing thread may differ
 * from the acquiring one.
 *
 * <p>A slot that is never released is lost for good. A holder that calls code which may throw releases it in one of two
 * ways: by {@link #release} on success, and by {@link #drop} in the {@code finally} block of the error path. The error
 * may be a stack overflow, which {@link #release} and its callees could hit again.
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
    public int tryAcquire() {
        final int count = slots.length;
        int slot = (int) (Thread.currentThread().getId() % count);
        for (int i = 0; i < count; i++) {
            if (tryAcquire(slot)) {
                return slot;
            }
            slot = slot + 1 == count ? 0 : slot + 1;
        }
        return -1;
    }

    /** Whether the caller now holds that slot. */
    public boolean tryAcquire(int slot) {
        final Slot chosen = slots[slot];
        return (int) Slot.TAKEN.get(chosen) == 0 && Slot.TAKEN.compareAndSet(chosen, 0, 1);
    }

    public void release(int slot) {
        Slot.TAKEN.setRelease(slots[slot], 0);
    }

    /** As {@link #release}, with a full fence; calls nothing, so it needs no stack beyond its own frame. */
    @Override
    public void drop(int slot) {
        slots[slot].taken = 0;
    }

    /** Padded to more than two cache lines, so that no two flags share one. */
    private static final class Slot {
        static final VarHandle TAKEN;

        static {
            try {
                TAKEN = MethodHandles.lookup().findVarHandle(Slot.class, "taken", int.class);
            } catch (ReflectiveOperationException e) {
                throw new ExceptionInInitializerError(e);
            }
        }

        @SuppressWarnings("UnusedVariable") // accessed through its VarHandle
        volatile int taken;

        @SuppressWarnings("unused")
        private long p00, p01, p02, p03, p04, p05, p06, p07, p08, p09, p10, p11, p12, p13, p14, p15;
    }
}
