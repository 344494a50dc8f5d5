package org.rowankv.driver.net;

import static java.util.Objects.requireNonNull;

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

    private final NetConnection connection;
    private final LeaderFollowerReader leaderFollower;
    private final InFlightRequest[] inFlightRequests;
    /** The last of them. Completed to interrupt this thread's wait when calls have ended. */
    private final InFlightRequest wakeUp;

    private final Clock clock;
    private final long spinNs;
    /** Requests of calls that are done; released here only, so none of them is another's meanwhile. */
    private final Queue<InFlightRequest> ended = new ConcurrentLinkedQueue<>();
    /** Calls in flight, and attached waiters. */
    private final AtomicInteger pendingCount = new AtomicInteger();

    /** An error has ended the thread, and with it the connection. */
    private volatile boolean failed;

    private final Object starting = new Object();
    /** Guarded by {@link #starting}. */
    private @Nullable Thread thread;

    AsyncReader(
            NetConnection connection,
            LeaderFollowerReader leaderFollower,
            InFlightRequest[] inFlightRequests,
            Clock clock,
            long spinNs) {
        this.connection = connection;
        this.leaderFollower = leaderFollower;
        this.inFlightRequests = inFlightRequests;
        this.wakeUp = inFlightRequests[inFlightRequests.length - 1];
        this.clock = clock;
        this.spinNs = spinNs;
    }

    /** Keeps the thread reading until a matching {@link #release}, or the end of a call that was begun with it. */
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

    /** Hands over a request of a call, which is done; called by the reading or breaking thread. */
    void end(InFlightRequest done) {
        ended.add(done);
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
            connection.fail(NetConnection.READER_ENDED);
        } finally {
            completeEnded();
        }
    }

    private void readUntilIdle() {
        long idleSinceNs = clock.nanoTime();
        long checkNs = idleSinceNs;
        long checkedTerm = 0;
        while (true) {
            // In this order: a call that ends from here on is completed below, or ends the wait.
            wakeUp.state(InFlightRequest.SENT);
            completeEnded();
            final long nowNs = clock.nanoTime();
            if (pendingCount.get() > 0) {
                idleSinceNs = nowNs;
                final long term = connection.term();
                if (nowNs - checkNs >= 0 || term != checkedTerm) {
                    checkedTerm = term;
                    checkNs = nowNs + SLICE_NS;
                    check(nowNs);
                }
                leaderFollower.await(wakeUp.begin(ControlRequest.CONFIGURATION, term, nowNs, checkNs), spinNs);
            } else if (nowNs - idleSinceNs < LINGER_NS) {
                LockSupport.parkNanos(this, LINGER_NS);
            } else if (endsThread()) {
                return;
            }
            // Interrupts of this thread have no meaning.
            Thread.interrupted();
        }
    }

    /** Completes all calls whose requests are done, even if one fails. */
    private void completeEnded() {
        Throwable failure = null;
        for (InFlightRequest next = ended.poll(); next != null; next = ended.poll()) {
            try {
                final Attempts.AsyncCall call = requireNonNull(next.async());
                final InFlightRequest.Outcome outcome = next.outcome();
                connection.release(next);
                call.end(outcome);
            } catch (RuntimeException | Error e) {
                failure = Failures.worse(failure, e);
            }
            pendingCount.decrementAndGet();
        }
        Failures.rethrow(failure);
    }

    /** Ends and wakes those whose time is over, or whose shard has left the server. */
    private void check(long nowNs) {
        long oldestNs = nowNs;
        for (InFlightRequest each : inFlightRequests) {
            final int state = each.state();
            if (each != wakeUp && (state == InFlightRequest.QUEUED || state == InFlightRequest.SENT)) {
                // Another use may begin meanwhile; what is mistaken for it has its reply lost, and is repeated.
                oldestNs = oldestNs - each.beginNs() > 0 ? each.beginNs() : oldestNs;
                final Attempts.AsyncCall call = each.async();
                final boolean left = call != null && connection.hasLeft(each);
                if (call != null && (left || each.isOverdue(nowNs))) {
                    expire(each, call, left);
                }
            }
        }
        leaderFollower.wakeOverdueFollowers();
        connection.checkSilence(oldestNs, nowNs);
    }

    /** Ends a call without a response, unless one is being processed. */
    private void expire(InFlightRequest own, Attempts.AsyncCall call, boolean left) {
        final long beginNs = own.beginNs();
        final InFlightRequest.Outcome outcome = own.withdraw();
        if (outcome != null) {
            pendingCount.decrementAndGet();
            try {
                if (outcome == InFlightRequest.Outcome.LOST) {
                    connection.breakIfSilent(beginNs, left);
                }
            } finally {
                call.end(outcome);
            }
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
