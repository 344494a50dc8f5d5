package org.rowankv.runtime.concurrent;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.Chaos;
import org.rowankv.runtime.Clock;

/**
 * A fixed number of slots with a FIFO wait queue: later arrivals do not overtake, so with many more threads than slots
 * no thread starves.
 *
 * <p>No wake-up is lost. A waiter enqueues, <i>then</i> checks again for a free slot if it is at the head, then parks.
 * A releaser frees the slot, <i>then</i> unparks the head. A thread that gets a slot without parking unparks the next
 * waiter. Thread-safe; allocates only where a thread has to wait.
 */
public final class FairSlotPool {
    private static final long MAX_PARK_NS = TimeUnit.SECONDS.toNanos(1);
    private static final long FOR_EVER_NS = TimeUnit.DAYS.toNanos(10_000);

    /** One wait of one thread. */
    private static final class Place {
        final Thread thread = Thread.currentThread();
        /** True once it was the head and has left the queue. */
        volatile boolean called;
    }

    private final Slots pool;
    private final Parker waiting;
    private final Clock clock;
    private final Queue<Place> line = new ConcurrentLinkedQueue<>();

    public FairSlotPool(Slots pool, Parker waiting, Clock clock) {
        this.pool = pool;
        this.waiting = waiting;
        this.clock = clock;
    }

    public int count() {
        return pool.count();
    }

    /**
     * Barging acquire: returns a slot, or −1 if none is free. For callers that already hold slots, or that need not
     * wait.
     */
    public int tryAcquire() {
        return pool.tryAcquire();
    }

    /** Returns a slot, or −1 if none is free or others wait already. */
    public int tryAcquireInOrder() {
        return line.isEmpty() ? pool.tryAcquire() : -1;
    }

    /** Waits for a slot and returns it; interrupts stay set for the caller. */
    public int acquire() {
        return acquire(clock.nanoTime() + FOR_EVER_NS, () -> false);
    }

    /**
     * Waits for a slot and returns it; interrupts stay set for the caller.
     *
     * @param isOver true when waiting has become pointless; {@link #callAll} must be called when that changes
     * @return −1 if no slot was acquired before the deadline
     */
    public int acquire(long deadlineNs, BooleanSupplier isOver) {
        int slot = tryAcquireInOrder();
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
            slot = own.equals(line.peek()) ? pool.tryAcquire() : -1;
            final boolean parks = slot < 0 && !own.called && !isOver.getAsBoolean();
            if (parks) {
                // An interrupted thread would not park. Cleared only for the wait: an error may have struck the thread
                // that unparked this one before it was done.
                interrupted |= Thread.interrupted();
                waiting.park(Math.min(leftNs, MAX_PARK_NS));
            }
            if (!own.called) {
                final boolean unused = line.remove(own); // already removed by a releaser
            }
            Chaos.point("line.left");
            if (slot < 0) {
                slot = pool.tryAcquire();
            }
            if (slot >= 0 && !parks) {
                callNext(); // the next waiter has not checked, and could have another slot already
            }
            leftNs = deadlineNs - clock.nanoTime();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return slot;
    }

    /** Frees a slot, then unparks the head of the queue. If an error strikes in between, the slot is free. */
    public void release(int slot) {
        pool.drop(slot); // Full fence: the slot must be visible as free before the queue is read.
        callNext();
    }

    private void callNext() {
        Chaos.point("line.freed");
        call(line.poll());
    }

    /** Makes every waiter check again whether it still has to wait. */
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
