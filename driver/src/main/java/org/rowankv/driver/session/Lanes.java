package org.rowankv.driver.session;

import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.DenseSlotPool;
import org.rowankv.runtime.RandomSource;
import org.rowankv.runtime.SlotPool;

/**
 * The lanes of one client: a caller borrows one for one mutation. Virtual threads have lanes of their own, many of them, since a thousand
 * callers are nothing unusual there; but as each lane is a session at every shard where it was used, no more are used than there
 * were mutations under way at once. Thread-safe.
 */
final class Lanes {
    /** For virtual threads. */
    static final int VIRTUAL_LANES = 1_024;

    private final Lane[] lanes;
    private final SlotLine line;
    /** Behind those of the first one; null where there are no virtual threads. */
    private final @Nullable SlotLine virtualLine;

    private final RandomSource random;

    /** @param count of lanes for the system's threads */
    Lanes(int count, Clock clock, RandomSource random) {
        this.random = random;
        this.line = new SlotLine(new SlotPool(count), Waiting.THREADS, clock);
        this.virtualLine =
                VirtualThreads.exist() ? new SlotLine(new DenseSlotPool(VIRTUAL_LANES), Waiting.THREADS, clock) : null;
        this.lanes = new Lane[virtualLine == null ? count : count + VIRTUAL_LANES];
        for (int i = 0; i < lanes.length; i++) {
            lanes[i] = new Lane(freshSessionId());
        }
    }

    private long freshSessionId() {
        synchronized (random) {
            long id;
            do {
                id = random.nextLong();
            } while (id == 0);
            return id;
        }
    }

    /** The index of a lane that is now the caller's; waits, without regard to interrupts, until one is free. */
    int borrow() {
        return virtualLine != null && VirtualThreads.isCurrentVirtual()
                ? line.count() + virtualLine.borrow()
                : line.borrow();
    }

    /** As {@link #borrow}, but −1 if none is free now. */
    int tryBorrow() {
        if (virtualLine != null && VirtualThreads.isCurrentVirtual()) {
            final int slot = virtualLine.tryBorrow();
            return slot < 0 ? slot : line.count() + slot;
        }
        return line.tryBorrow();
    }

    Lane lane(int index) {
        return lanes[index];
    }

    /** Whoever waits longest for a lane looks again. */
    void giveBack(int index) {
        final int own = line.count();
        if (virtualLine != null && index >= own) {
            virtualLine.giveBack(index - own);
        } else {
            line.giveBack(index);
        }
    }

    void renew(Lane lane) {
        lane.renew(freshSessionId());
    }

    int count() {
        return lanes.length;
    }
}
