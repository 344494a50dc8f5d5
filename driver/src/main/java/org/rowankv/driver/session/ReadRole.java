package org.rowankv.driver.session;

import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.Chaos;

/**
 * Who reads a connection: one of the callers that wait for answers, for all of them. Whoever holds the role reads until it has
 * its own answer, then lets go of the role and wakes one other.
 *
 * <p>No wake-up is lost: a caller announces that it will park, <i>then</i> looks whether the role is free, then parks; who
 * lets go frees the role, <i>then</i> looks for one that has announced itself. So either the caller sees the role free, or it
 * is seen. A caller that leaves without having read does the same as one that lets go, since it may be the one that was woken
 * up for the role.
 *
 * <p>How threads park is given, so that a test can explore every schedule. Thread-safe.
 */
final class ReadRole {
    /** How callers wait for each other. */
    interface Waiting {
        /** Parks the calling thread, until it is unparked or for about that long. */
        void park(long ns);

        void unpark(Thread thread);
    }

    private final AtomicReference<@Nullable Thread> holder = new AtomicReference<>();
    private final Exchange[] exchanges;
    private final Waiting waiting;
    /** Where the search for somebody to wake up begins: it rotates, so that none is preferred. By who lets go. */
    private volatile int from;

    ReadRole(Exchange[] exchanges, Waiting waiting) {
        this.exchanges = exchanges;
        this.waiting = waiting;
    }

    /** Whether the role is the calling thread's from now on. */
    boolean tryTake() {
        Chaos.point("role.take");
        return holder.get() == null && holder.compareAndSet(null, Thread.currentThread());
    }

    /** Whether the calling thread has it: then it was called back by what it read. */
    boolean isMine() {
        return holder.get() == Thread.currentThread();
    }

    /** By its holder. */
    void letGo() {
        Chaos.point("role.free");
        holder.set(null);
        Chaos.point("role.freed");
        wakeOne();
    }

    private void wakeOne() {
        final int count = exchanges.length;
        final int first = from;
        for (int i = 0; i < count; i++) {
            final int index = first + i < count ? first + i : first + i - count;
            final Thread thread = exchanges[index].parked();
            // Who is done will not read, though it may not have woken up yet.
            if (thread != null && !exchanges[index].isDone()) {
                from = index + 1 < count ? index + 1 : 0;
                waiting.unpark(thread);
                return;
            }
        }
    }

    /** Parks the caller of the exchange unless it is done, or somebody has to read. May return early. */
    void park(Exchange own, long ns) {
        own.parked(Thread.currentThread());
        Chaos.point("role.announced");
        if (!own.isDone() && holder.get() != null) {
            Chaos.point("role.parks");
            waiting.park(ns);
        }
        own.parked(null);
    }

    /** By a caller that leaves without its answer. */
    void leave() {
        Chaos.point("role.leaves");
        if (holder.get() == null) {
            wakeOne();
        }
    }

    /** By who has ended an exchange: its caller goes on. */
    void wake(@Nullable Thread parked) {
        if (parked != null) {
            Chaos.point("role.wakes");
            waiting.unpark(parked);
        }
    }
}
