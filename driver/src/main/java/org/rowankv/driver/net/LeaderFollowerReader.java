package org.rowankv.driver.net;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.Chaos;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.concurrent.Parker;

/**
 * Who reads a connection: one of the callers that wait for answers, for all of them. Whoever holds the role reads until it has
 * its own answer, then lets go of the role and wakes one other.
 *
 * <p>No wake-up is lost: a caller announces that it will park, <i>then</i> looks whether the role is free, then parks; who
 * lets go frees the role, <i>then</i> looks for one that has announced itself. So either the caller sees the role free, or it
 * is seen. A caller that was woken up tries to take the role before it looks whether its time is over: if that fails, there is
 * somebody who has it, and will let go of it later.
 *
 * <p>How threads park is given, so that a test can explore every schedule. Thread-safe.
 */
final class LeaderFollowerReader {
    /** Reads the connection, for whoever has the role. */
    interface Reader {
        /**
         * Reads until the exchange is done, the deadline passes or nothing more will come.
         *
         * @return whether the calling thread was interrupted, which it does not know any more
         */
        boolean read(InFlightRequest own, long deadlineNs, boolean spins);
    }

    private static final long MAX_PARK_NS = TimeUnit.SECONDS.toNanos(1);

    private final AtomicReference<@Nullable Thread> holder = new AtomicReference<>();
    private final InFlightRequest[] exchanges;
    private final Parker waiting;
    private final Reader reader;
    private final Clock clock;
    /** How many have announced that they park, and would read: no fewer than there are. */
    private final AtomicInteger parking = new AtomicInteger();

    private volatile boolean abandoned;
    /** Where the search for somebody to wake up begins: it rotates, so that none is preferred. By who lets go. */
    private volatile int from;

    LeaderFollowerReader(InFlightRequest[] exchanges, Parker waiting, Reader reader, Clock clock) {
        this.exchanges = exchanges;
        this.waiting = waiting;
        this.reader = reader;
        this.clock = clock;
    }

    /**
     * Waits on the calling thread until the exchange is done or the deadline passes, and reads if nobody else does.
     *
     * @param spinNs how long it looks again, yielding in between, before it parks; 0: not at all
     * @return whether the calling thread was interrupted, which it does not know any more
     */
    boolean await(InFlightRequest own, long deadlineNs, long spinNs) {
        boolean interrupted = false;
        boolean over = false;
        long spinUntilNs = spinNs > 0 ? clock.nanoTime() + spinNs : 0;
        while (!own.isDone() && !over) {
            if (isMine()) {
                // Called from within what it does as the reader: reads on, and its outer self lets go.
                interrupted |= reader.read(own, deadlineNs, spinNs > 0);
                over = !own.isDone();
            } else if (tryTake()) {
                try {
                    interrupted |= reader.read(own, deadlineNs, spinNs > 0);
                } finally {
                    letGo();
                }
                over = !own.isDone();
            } else {
                final long nowNs = clock.nanoTime();
                over = nowNs - deadlineNs >= 0;
                if (!over && spinNs > 0 && nowNs - spinUntilNs < 0) {
                    Thread.yield();
                } else if (!over) {
                    // An interrupted thread would not park.
                    interrupted |= Thread.interrupted();
                    park(own, Math.min(deadlineNs - nowNs, MAX_PARK_NS));
                    spinUntilNs = nowNs;
                }
            }
        }
        return interrupted;
    }

    /**
     * Waits until the exchange is done or the deadline passes, and never reads: there is somebody else who does, and who calls
     * {@link #wakeOverdue} again and again, for as long as this waits. So it parks without a timer of its own, which would cost a
     * virtual thread more than the rest of a call.
     *
     * @return whether the calling thread was interrupted, which it does not know any more
     */
    boolean awaitOthers(InFlightRequest own, long deadlineNs) {
        boolean interrupted = false;
        own.deadline(deadlineNs);
        while (!own.isDone() && !abandoned && deadlineNs - clock.nanoTime() > 0) {
            interrupted |= Thread.interrupted();
            Chaos.point("role.announces");
            own.parked(Thread.currentThread(), false);
            Chaos.point("role.announced");
            if (!own.isDone() && !abandoned) {
                Chaos.point("role.parks");
                waiting.park();
            }
            own.awake();
        }
        return interrupted;
    }

    /** Wakes those up that {@link #awaitOthers wait for others} and whose time is over. */
    void wakeOverdue() {
        final long nowNs = clock.nanoTime();
        for (InFlightRequest each : exchanges) {
            if (each.isOverdue(nowNs)) {
                wake(each.parkedOther());
            }
        }
    }

    /** There is nobody any more who reads for others: they do not wait, now and from now on. */
    void abandonOthers() {
        abandoned = true; // before: who announces itself after this sees it
        Chaos.point("role.abandoned");
        for (InFlightRequest each : exchanges) {
            wake(each.parkedOther());
        }
    }

    /** Whether the role is the calling thread's from now on. */
    private boolean tryTake() {
        Chaos.point("role.take");
        return holder.get() == null && holder.compareAndSet(null, Thread.currentThread());
    }

    /** Whether the calling thread has it: then it was called back by what it read. */
    private boolean isMine() {
        return holder.get() == Thread.currentThread();
    }

    /** By its holder. */
    private void letGo() {
        Chaos.point("role.free");
        holder.set(null);
        Chaos.point("role.freed");
        wakeOne();
    }

    private void wakeOne() {
        if (parking.get() == 0) {
            return; // who announces itself from here on sees that the role is free
        }
        final int count = exchanges.length;
        final int first = from;
        for (int i = 0; i < count; i++) {
            final int index = first + i < count ? first + i : first + i - count;
            final Thread thread = exchanges[index].parkedReader();
            // Who is done will not read, though it may not have woken up yet.
            if (thread != null && !exchanges[index].isDone()) {
                from = index + 1 < count ? index + 1 : 0;
                waiting.unpark(thread);
                return;
            }
        }
    }

    /** Parks the caller of the exchange unless it is done, or somebody has to read. May return early. */
    private void park(InFlightRequest own, long ns) {
        Chaos.point("role.announces");
        final int unused = parking.incrementAndGet();
        Chaos.point("role.counted");
        own.parked(Thread.currentThread(), true);
        Chaos.point("role.announced");
        if (!own.isDone() && holder.get() != null) {
            Chaos.point("role.parks");
            waiting.park(ns);
        }
        own.awake();
        final int unusedToo = parking.decrementAndGet();
    }

    /** By who has ended an exchange: its caller goes on. */
    void wake(@Nullable Thread parked) {
        if (parked != null) {
            Chaos.point("role.wakes");
            waiting.unpark(parked);
        }
    }
}
