package org.rowankv.driver.net;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.Chaos;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.concurrent.Parker;

/**
 * Leader/follower reader role of a connection: one waiting caller, the leader, reads for all of them. It reads until
 * its own response has arrived, then releases the role and wakes one follower.
 *
 * <p>No wake-up is lost. A caller announces that it parks, <i>then</i> checks whether the role is free, then parks. The
 * leader frees the role, <i>then</i> searches for an announced caller. So either the caller finds the role free, or the
 * leader finds the caller. A woken caller tries to become leader before it checks its deadline: failure means that
 * another leader will wake the next one.
 *
 * <p>Parking is a parameter, so that a test can explore every schedule. Thread-safe.
 */
final class LeaderFollowerReader {
    /** Reads the connection on behalf of the leader. */
    interface Reader {
        /**
         * Reads until the request is done, its deadline passes or nothing more can arrive for it.
         *
         * @return whether the calling thread was interrupted; its interrupt status is cleared
         */
        boolean read(InFlightRequest own, boolean spins);

        /** Whether it is useless to wait for a response any longer, whatever the deadline. */
        default boolean isOver(InFlightRequest own) {
            return own.isDone();
        }
    }

    private static final long MAX_PARK_NS = TimeUnit.SECONDS.toNanos(1);

    private final AtomicReference<@Nullable Thread> leader = new AtomicReference<>();
    private final InFlightRequest[] inFlightRequests;
    private final Parker parker;
    private final Reader reader;
    private final Clock clock;
    /** Upper bound of the callers that have announced to park and would read. */
    private final AtomicInteger parkingCount = new AtomicInteger();

    private volatile boolean abandoned;
    /** Where the search for a caller to wake starts; rotates for fairness. Written by the releasing leader. */
    private volatile int nextToWake;

    LeaderFollowerReader(InFlightRequest[] inFlightRequests, Parker parker, Reader reader, Clock clock) {
        this.inFlightRequests = inFlightRequests;
        this.parker = parker;
        this.reader = reader;
        this.clock = clock;
    }

    /**
     * Waits on the calling thread until the request is done, over or past its deadline; reads if the role is free.
     *
     * @param spinNs how long it polls, yielding in between, before it parks; 0: not at all
     * @return whether the calling thread was interrupted; its interrupt status is cleared
     */
    boolean await(InFlightRequest own, long spinNs) {
        boolean interrupted = false;
        boolean over = false;
        long spinUntilNs = spinNs > 0 ? clock.nanoTime() + spinNs : 0;
        while (!own.isDone() && !over) {
            if (isLeader()) {
                // Reentrant call from a read: reads on, and the outer call releases the role.
                interrupted |= reader.read(own, spinNs > 0);
                over = !own.isDone();
            } else if (tryLead()) {
                try {
                    interrupted |= reader.read(own, spinNs > 0);
                } finally {
                    release();
                }
                over = !own.isDone();
            } else {
                final long nowNs = clock.nanoTime();
                over = own.isOverdue(nowNs) || reader.isOver(own);
                if (!over && spinNs > 0 && nowNs - spinUntilNs < 0) {
                    Thread.yield();
                } else if (!over) {
                    // An interrupted thread would not park.
                    interrupted |= Thread.interrupted();
                    park(own, Math.min(own.deadlineNs() - nowNs, MAX_PARK_NS));
                    spinUntilNs = nowNs;
                }
            }
        }
        return interrupted;
    }

    /**
     * As {@link #await}, without ever reading: another thread must read, and call {@link #wakeOverdueFollowers}
     * repeatedly meanwhile. So it parks without a timer, which would cost a virtual thread more than the rest of a call.
     *
     * @return whether the calling thread was interrupted; its interrupt status is cleared
     */
    boolean awaitAsFollower(InFlightRequest own) {
        boolean interrupted = false;
        while (!reader.isOver(own) && !abandoned && !own.isOverdue(clock.nanoTime())) {
            interrupted |= Thread.interrupted();
            Chaos.point("role.announces");
            own.parked(Thread.currentThread(), false);
            Chaos.point("role.announced");
            if (!reader.isOver(own) && !abandoned) {
                Chaos.point("role.parks");
                parker.park();
            }
            own.awake();
        }
        return interrupted;
    }

    /** Wakes callers of {@link #awaitAsFollower} that are past their deadlines. */
    void wakeOverdueFollowers() {
        final long nowNs = clock.nanoTime();
        for (InFlightRequest each : inFlightRequests) {
            if (each.isOverdue(nowNs)) {
                wake(each.parked());
            }
        }
    }

    /** Wakes every parked caller, so that it checks whether its request is over. */
    void wakeAll() {
        for (InFlightRequest each : inFlightRequests) {
            wake(each.parked());
        }
    }

    /** Ends all current and future {@link #awaitAsFollower}: no thread reads for followers any more. */
    void abandonFollowers() {
        abandoned = true; // first: a caller that announces itself after this sees it
        Chaos.point("role.abandoned");
        wakeAll();
    }

    /** Tries to make the calling thread the leader. */
    private boolean tryLead() {
        Chaos.point("role.take");
        return leader.get() == null && leader.compareAndSet(null, Thread.currentThread());
    }

    /** Whether the calling thread is the leader: then a read called it back. */
    private boolean isLeader() {
        return leader.get() == Thread.currentThread();
    }

    /** Releases the role; called by the leader. */
    private void release() {
        Chaos.point("role.free");
        leader.set(null);
        Chaos.point("role.freed");
        wakeOne();
    }

    private void wakeOne() {
        if (parkingCount.get() == 0) {
            return; // a caller that announces itself from here on finds the role free
        }
        final int count = inFlightRequests.length;
        final int first = nextToWake;
        for (int i = 0; i < count; i++) {
            final int index = first + i < count ? first + i : first + i - count;
            final Thread thread = inFlightRequests[index].parkedReader();
            // A caller that is done will not read, even if it has not woken yet.
            if (thread != null && !inFlightRequests[index].isDone()) {
                nextToWake = index + 1 < count ? index + 1 : 0;
                parker.unpark(thread);
                return;
            }
        }
    }

    /** Parks the caller unless its request is over or the role is free. May return early. */
    private void park(InFlightRequest own, long ns) {
        Chaos.point("role.announces");
        final int unused = parkingCount.incrementAndGet();
        Chaos.point("role.counted");
        own.parked(Thread.currentThread(), true);
        Chaos.point("role.announced");
        if (!reader.isOver(own) && leader.get() != null) {
            Chaos.point("role.parks");
            parker.park(ns);
        }
        own.awake();
        final int unusedToo = parkingCount.decrementAndGet();
    }

    /** Wakes the caller of a completed request. */
    void wake(@Nullable Thread parked) {
        if (parked != null) {
            Chaos.point("role.wakes");
            parker.unpark(parked);
        }
    }
}
