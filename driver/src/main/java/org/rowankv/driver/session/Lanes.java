package org.rowankv.driver.session;

import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.LockSupport;
import org.rowankv.runtime.RandomSource;

/**
 * The lanes of one client: a caller borrows one for one mutation. Shared by all callers; a lane is taken by
 * compare-and-set on its flag, first tried at an index derived from the thread, so that a thread mostly meets its own.
 */
final class Lanes {
    private static final int PADDING = 32; // ints between two flags: two cache lines

    private final Lane[] lanes;
    private final AtomicIntegerArray taken;
    private final int mask;
    private final RandomSource random;

    Lanes(int count, RandomSource random) {
        if (Integer.bitCount(count) != 1) {
            throw new IllegalArgumentException("lane count must be a power of two, not " + count);
        }
        this.random = random;
        this.lanes = new Lane[count];
        this.taken = new AtomicIntegerArray(count * PADDING);
        this.mask = count - 1;
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
        final int home = (int) Thread.currentThread().getId();
        for (int attempt = 0; ; attempt++) {
            final int index = (home + attempt) & mask;
            if (taken.getPlain(index * PADDING) == 0 && taken.compareAndSet(index * PADDING, 0, 1)) {
                return index;
            }
            if (attempt > mask) {
                LockSupport.parkNanos(20_000);
            }
        }
    }

    Lane lane(int index) {
        return lanes[index];
    }

    void giveBack(int index) {
        taken.setRelease(index * PADDING, 0);
    }

    void renew(Lane lane) {
        lane.renew(freshSessionId());
    }

    int count() {
        return lanes.length;
    }
}
