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
import org.rowankv.runtime.concurrent.DetachedThread;

/**
 * Reader thread of a connection for callers that do not block, or block on virtual threads. It exists while such
 * requests are in flight and a little longer, competes for the reader role, and completes asynchronous calls. So no
 * blocking caller runs the code of another, and no read pins a carrier thread. Thread-safe.
 */
final class AsyncReader implements Runnable {
    private static final long SLICE_NS = TimeUnit.MILLISECONDS.toNanos(50);
    private static final long LINGER_NS = TimeUnit.SECONDS.toNanos(2);

    private final LeaderFollowerReader leaderFollower;
    /** Completed to interrupt this thread's wait when calls have ended. */
    private final InFlightRequest wakeUp;

    private final Clock clock;
    private final long spinNs;
    private final Queue<AsyncCall> begun = new ConcurrentLinkedQueue<>();
    private final Queue<AsyncCall> ended = new ConcurrentLinkedQueue<>();
    /** Calls that have begun and are not completed, and attached waiters. */
    private final AtomicInteger pendingCount = new AtomicInteger();

    /** An error has ended the thread, and with it the connection. */
    private volatile boolean failed;

    private final Object starting = new Object();
    /** Guarded by {@link #starting}. */
    private @Nullable Thread thread;

    private final Runnable onFailure;

    /** @param onFailure called if an error ends the thread; must break the connection */
    AsyncReader(
            LeaderFollowerReader leaderFollower, InFlightRequest wakeUp, Clock clock, long spinNs, Runnable onFailure) {
        this.onFailure = onFailure;
        this.leaderFollower = leaderFollower;
        this.wakeUp = wakeUp;
        this.clock = clock;
        this.spinNs = spinNs;
    }

    /** Registers a call before it is sent. */
    void begin(AsyncCall call) {
        begun.add(call);
        retain();
    }

    /** Keeps the thread reading until a matching {@link #release}. */
    void retain() {
        if (pendingCount.getAndIncrement() == 0) {
            boolean isStarted = false;
            try {
                ensureThread();
                isStarted = true;
            } finally {
                if (!isStarted) {
                    pendingCount.decrementAndGet();
                    stop();
                }
            }
        }
    }

    private void ensureThread() {
        synchronized (starting) {
            final Thread present = thread;
            if (present == null) {
                final Thread created = DetachedThread.of(this, "rowan-client-reader");
                created.start();
                thread = created; // after start(), which may fail for lack of threads
            } else {
                LockSupport.unpark(present);
            }
        }
    }

    /** Ends one {@link #retain}: its waiter has a response, or no longer waits. */
    void release() {
        pendingCount.decrementAndGet();
    }

    /** Hands over a call whose request is done; called by the reading or breaking thread. */
    void end(AsyncCall call) {
        ended.add(call);
        if (failed) {
            completeEnded();
        } else {
            leaderFollower.wake(wakeUp.done(InFlightRequest.Outcome.ANSWERED));
        }
    }

    @Override
    public void run() {
        boolean isOrderly = false;
        try {
            readUntilIdle();
            isOrderly = true;
        } finally {
            if (!isOrderly) {
                stop();
            }
        }
    }

    /** After an error, possibly in a callback, the reader stops and fails all waiters. */
    private void stop() {
        failed = true; // first: a thread that ends a call after this completes it itself
        try {
            leaderFollower.abandonFollowers(); // allocates nothing
            onFailure.run();
        } finally {
            completeEnded();
        }
    }

    private void readUntilIdle() {
        final PriorityQueue<AsyncCall> watched = new PriorityQueue<>(AsyncCall.BY_DEADLINE);
        long idleSinceNs = clock.nanoTime();
        long overdueCheckNs = idleSinceNs;
        while (true) {
            // In this order: a call that ends from here on is completed below, or ends the wait.
            wakeUp.state(InFlightRequest.SENT);
            completeEnded();
            watch(watched);
            final long nowNs = clock.nanoTime();
            if (pendingCount.get() > 0) {
                idleSinceNs = nowNs;
                leaderFollower.await(wakeUp, nowNs + SLICE_NS, spinNs);
                if (clock.nanoTime() - overdueCheckNs >= 0) {
                    leaderFollower.wakeOverdueFollowers();
                    overdueCheckNs = clock.nanoTime() + SLICE_NS;
                }
            } else if (nowNs - idleSinceNs < LINGER_NS) {
                LockSupport.parkNanos(this, LINGER_NS);
            } else if (endsThread()) {
                return;
            }
            // Interrupts of this thread have no meaning.
            Thread.interrupted();
        }
    }

    /** Completes all ended calls, even if one fails. */
    private void completeEnded() {
        Throwable failure = null;
        for (AsyncCall next = ended.poll(); next != null; next = ended.poll()) {
            try {
                next.ended();
            } catch (RuntimeException | Error e) {
                failure = Failures.worse(failure, e);
            }
            pendingCount.decrementAndGet();
        }
        Failures.rethrow(failure);
    }

    /** Ends overdue calls; forgets those that have ended. */
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
                pendingCount.decrementAndGet();
            }
            watched.remove();
        }
    }

    private boolean endsThread() {
        synchronized (starting) {
            if (pendingCount.get() > 0) {
                return false;
            }
            thread = null;
            return true;
        }
    }
}
