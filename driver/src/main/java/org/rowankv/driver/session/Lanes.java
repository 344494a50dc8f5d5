package org.rowankv.driver.session;

import java.util.concurrent.locks.LockSupport;
import org.rowankv.runtime.RandomSource;
import org.rowankv.runtime.SlotPool;

/** The lanes of one client: a caller borrows one for one mutation. Thread-safe. */
final class Lanes {
    private static final long WAIT_NS = 20_000;

    private final Lane[] lanes;
    private final SlotPool pool;
    private final RandomSource random;

    Lanes(int count, RandomSource random) {
        this.random = random;
        this.lanes = new Lane[count];
        this.pool = new SlotPool(count);
        for (int i = 0; i < count; i++) {
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
        int index = pool.tryBorrow();
        while (index < 0) {
            LockSupport.parkNanos(WAIT_NS);
            index = pool.tryBorrow();
        }
        return index;
    }

    /** As {@link #borrow}, but −1 if none is free now. */
    int tryBorrow() {
        return pool.tryBorrow();
    }

    Lane lane(int index) {
        return lanes[index];
    }

    void giveBack(int index) {
        pool.giveBack(index);
    }

    /** As {@link #giveBack}, for who has met an error: it may have been the end of the stack. */
    void drop(int index) {
        pool.drop(index);
    }

    void renew(Lane lane) {
        lane.renew(freshSessionId());
    }

    int count() {
        return lanes.length;
    }
}
