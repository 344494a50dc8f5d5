package org.rowankv.driver.net;

import java.util.PriorityQueue;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.Failures;

/**
 * Stands in for the callers of a connection that do not wait, or wait on virtual threads: a thread, there while something is
 * under way for one of them and a little longer, that takes its turn in reading and tells the former. So no caller that waits runs
 * another's code, and none that reads holds up the carrier of others. Thread-safe.
 */
final class AsyncReader implements Runnable {
    private static final long SLICE_NS = TimeUnit.MILLISECONDS.toNanos(50);
    private static final long LINGER_NS = TimeUnit.SECONDS.toNanos(2);

    private final LeaderFollowerReader role;
    /** Done, as often as somebody is to be told. */
    private final InFlightRequest own;

    private final Clock clock;
    private final long spinNs;
    private final Queue<AsyncCall> begun = new ConcurrentLinkedQueue<>();
    private final Queue<AsyncCall> ended = new ConcurrentLinkedQueue<>();
    /** Begun, and not told yet. */
    private final AtomicInteger underWay = new AtomicInteger();

    /** An error has ended the thread, and the connection with it. */
    private volatile boolean dead;

    private final Object starting = new Object();
    /** Guarded by {@link #starting}. */
    private @Nullable Thread thread;

    private final Runnable whenDead;

    /** @param whenDead called if an error ends the thread: it is to break the connection */
    AsyncReader(LeaderFollowerReader role, InFlightRequest own, Clock clock, long spinNs, Runnable whenDead) {
        this.whenDead = whenDead;
        this.role = role;
        this.own = own;
        this.clock = clock;
        this.spinNs = spinNs;
    }

    /** Before it is sent. */
    void begin(AsyncCall call) {
        begun.add(call);
        attend();
    }

    /** Reads from now on, until as often {@link #leave} was called. */
    void attend() {
        if (underWay.getAndIncrement() == 0) {
            boolean isThere = false;
            try {
                beThere();
                isThere = true;
            } finally {
                if (!isThere) {
                    underWay.decrementAndGet();
                    die();
                }
            }
        }
    }

    private void beThere() {
        synchronized (starting) {
            final Thread present = thread;
            if (present == null) {
                final Thread made = new Thread(this, "rowan-client-reader");
                made.setDaemon(true);
                made.start();
                thread = made; // not before: the machine may have no thread to give
            } else {
                LockSupport.unpark(present);
            }
        }
    }

    /** One of those that it reads for has what it waited for, or waits no longer. */
    void leave() {
        underWay.decrementAndGet();
    }

    /** By whoever reads, or breaks the connection: the call's exchange is done. */
    void end(AsyncCall call) {
        ended.add(call);
        if (dead) {
            tell();
        } else {
            role.wake(own.done(InFlightRequest.Outcome.ANSWERED));
        }
    }

    @Override
    public void run() {
        boolean left = false;
        try {
            readOn();
            left = true;
        } finally {
            if (!left) {
                die();
            }
        }
    }

    /** After an error, perhaps of somebody who was told: nothing is read here any more, and those that wait for it are told so. */
    private void die() {
        dead = true; // first: whatever ends after this is told of by who ends it
        try {
            role.abandonOthers(); // needs no memory, and nothing else to succeed
            whenDead.run();
        } finally {
            tell();
        }
    }

    private void readOn() {
        final PriorityQueue<AsyncCall> watched = new PriorityQueue<>(AsyncCall.BY_DEADLINE);
        long idleSinceNs = clock.nanoTime();
        long lookNs = idleSinceNs;
        while (true) {
            // In this order: what ends from here on is told of now, or ends the waiting.
            own.state(InFlightRequest.SENT);
            tell();
            watch(watched);
            final long nowNs = clock.nanoTime();
            if (underWay.get() > 0) {
                idleSinceNs = nowNs;
                role.await(own, nowNs + SLICE_NS, spinNs);
                if (clock.nanoTime() - lookNs >= 0) {
                    role.wakeOverdue();
                    lookNs = clock.nanoTime() + SLICE_NS;
                }
            } else if (nowNs - idleSinceNs < LINGER_NS) {
                LockSupport.parkNanos(this, LINGER_NS);
            } else if (hasLeft()) {
                return;
            }
            // Nobody has a reason to interrupt this thread; if somebody does it means nothing.
            Thread.interrupted();
        }
    }

    /** All of them, also if an error strikes at one. */
    private void tell() {
        Throwable failure = null;
        for (AsyncCall next = ended.poll(); next != null; next = ended.poll()) {
            try {
                next.ended();
            } catch (RuntimeException | Error e) {
                failure = Failures.worse(failure, e);
            }
            underWay.decrementAndGet();
        }
        Failures.rethrow(failure);
    }

    /** Ends those whose time is over; forgets those that have ended. */
    private void watch(PriorityQueue<AsyncCall> watched) {
        for (AsyncCall next = begun.poll(); next != null; next = begun.poll()) {
            watched.add(next);
        }
        final long nowNs = clock.nanoTime();
        while (!watched.isEmpty()) {
            final AsyncCall first = watched.element();
            if (!first.isEnded()) {
                if (!first.expire(nowNs)) {
                    return;
                }
                underWay.decrementAndGet();
            }
            watched.remove();
        }
    }

    private boolean hasLeft() {
        synchronized (starting) {
            if (underWay.get() > 0) {
                return false;
            }
            thread = null;
            return true;
        }
    }
}
