package org.rowankv.runtime.concurrent;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.Chaos;
import org.rowankv.runtime.Clock;

/**
 * A fixed number of slots for which threads wait in line: who comes later does not overtake, so that with many more threads than
 * slots each has its turn.
 *
 * <p>No wake-up is lost: who waits joins the line, <i>then</i> looks once more whether a slot is free if it is the first, then parks;
 * who gives a slot back frees it, <i>then</i> calls who is first in the line. Who got one without having parked calls the next one.
 * Thread-safe; allocates where somebody has to wait, and nowhere else.
 */
public final class SlotLine {
    private static final long MAX_PARK_NS = TimeUnit.SECONDS.toNanos(1);
    private static final long FOR_EVER_NS = TimeUnit.DAYS.toNanos(10_000);

    /** Somebody who waits, once. */
    private static final class Place {
        final Thread thread = Thread.currentThread();
        /** It has been the first in the line, and is not in it any more. */
        volatile boolean called;
    }

    private final Slots pool;
    private final Waiting waiting;
    private final Clock clock;
    private final Queue<Place> line = new ConcurrentLinkedQueue<>();

    public SlotLine(Slots pool, Waiting waiting, Clock clock) {
        this.pool = pool;
        this.waiting = waiting;
        this.clock = clock;
    }

    public int count() {
        return pool.count();
    }

    /**
     * A slot that is now the caller's, or −1: none is free now. Overtakes those that wait: it is for who has slots already and could
     * use more, or who would rather do something else than wait.
     */
    public int tryBorrow() {
        return pool.tryBorrow();
    }

    /** A slot that is now the caller's, or −1: none is free now, or others wait already. */
    public int tryBorrowInTurn() {
        return line.isEmpty() ? pool.tryBorrow() : -1;
    }

    /** A slot that is now the caller's; waits for it, without regard to interrupts. */
    public int borrow() {
        return borrow(clock.nanoTime() + FOR_EVER_NS, () -> false);
    }

    /**
     * A slot that is now the caller's; waits for it, without regard to interrupts.
     *
     * @param isOver nothing is worth waiting for any more: {@link #callAll} is called when that has changed
     * @return −1 when none came in time
     */
    public int borrow(long deadlineNs, BooleanSupplier isOver) {
        int slot = tryBorrowInTurn();
        if (slot >= 0) {
            return slot;
        }
        boolean interrupted = false;
        long leftNs = deadlineNs - clock.nanoTime();
        while (slot < 0 && leftNs > 0 && !isOver.getAsBoolean()) {
            final Place own = new Place();
            Chaos.point("line.joins");
            line.add(own);
            Chaos.point("line.joined");
            slot = own.equals(line.peek()) ? pool.tryBorrow() : -1;
            final boolean parks = slot < 0 && !own.called && !isOver.getAsBoolean();
            if (parks) {
                // An interrupted thread would not park. Not for longer: whoever called this one may have met an error
                // before the end.
                interrupted |= Thread.interrupted();
                waiting.park(Math.min(leftNs, MAX_PARK_NS));
            }
            if (!own.called) {
                final boolean unused = line.remove(own); // not there any more: called in between
            }
            Chaos.point("line.left");
            if (slot < 0) {
                slot = pool.tryBorrow();
            }
            if (slot >= 0 && !parks) {
                callNext(); // who joined behind this one has not looked, and could have another slot already
            }
            leftNs = deadlineNs - clock.nanoTime();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return slot;
    }

    /** Frees a slot, then calls who is first in the line. If an error comes in between, the slot is free. */
    public void giveBack(int slot) {
        pool.drop(slot); // with a full fence: a slot must be seen to be free before the line is looked at
        callNext();
    }

    private void callNext() {
        Chaos.point("line.freed");
        call(line.poll());
    }

    /** Whoever waits looks whether it still has to. */
    public void callAll() {
        for (Place next = line.poll(); next != null; next = line.poll()) {
            call(next);
        }
    }

    private void call(@Nullable Place next) {
        if (next != null) {
            next.called = true;
            waiting.unpark(next.thread);
        }
    }
}
