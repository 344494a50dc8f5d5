package org.rowankv.driver.session;

import org.rowankv.runtime.Clock;
import org.rowankv.runtime.RandomSource;

/** The lanes of one client: a caller borrows one for one mutation. Thread-safe. */
final class Lanes {
    private final Lane[] lanes;
    private final SlotLine line;
    private final RandomSource random;

    Lanes(int count, Clock clock, RandomSource random) {
        this.random = random;
        this.lanes = new Lane[count];
        this.line = new SlotLine(count, Waiting.THREADS, clock);
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
        return line.borrow();
    }

    /** As {@link #borrow}, but −1 if none is free now. */
    int tryBorrow() {
        return line.tryBorrow();
    }

    Lane lane(int index) {
        return lanes[index];
    }

    /** Whoever waits longest for a lane looks again. */
    void giveBack(int index) {
        line.giveBack(index);
    }

    void renew(Lane lane) {
        lane.renew(freshSessionId());
    }

    int count() {
        return lanes.length;
    }
}
