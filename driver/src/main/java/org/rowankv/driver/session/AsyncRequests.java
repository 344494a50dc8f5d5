package org.rowankv.driver.session;

import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.rowankv.driver.api.Session;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.CounterStarts;
import org.rowankv.runtime.RandomSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries requests to their outcomes for callers that do not wait. Each server has {@value #AT_ONCE} places, a queue and lanes of its
 * own, so that one that does not answer delays no other. The deadline counts from {@link #execute}, in the queue too: a request
 * that is still there then is answered UNREACHABLE, which says that it was not sent. Thread-safe; stages are completed by the thread
 * that has the answer.
 */
public final class AsyncRequests implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(AsyncRequests.class);
    static final int AT_ONCE = 128;
    static final int MAX_WAITING = 65_536;

    private final Session session;
    private final Clock clock;
    private final RandomSource random;
    private final long deadlineNs;
    private final StepTimer timer;
    /** By the server that was the primary of a request's shard when the request came. */
    private final Map<Integer, Line> lines = new ConcurrentHashMap<>();

    private volatile boolean closed;

    public AsyncRequests(Session session, Clock clock, RandomSource random, long deadlineNs, StepTimer timer) {
        this.session = session;
        this.clock = clock;
        this.random = random;
        this.deadlineNs = deadlineNs;
        this.timer = timer;
    }

    /**
     * The request and its arrays are not touched by the caller until the stage is complete.
     *
     * @throws RejectedExecutionException if {@value #MAX_WAITING} requests for the same server wait already; nothing was sent
     */
    public CompletionStage<Request> execute(Request request) {
        final Pending pending = new Pending(request, clock.nanoTime() + deadlineNs);
        lines.computeIfAbsent(ExactlyOnceExecutor.serverOf(request, session.configuration()), server -> new Line())
                .execute(pending);
        return pending.stage;
    }

    /** Requests that wait are answered CLOSED; those under way go on until the session is closed. */
    @Override
    public void close() {
        closed = true;
        timer.hurry();
        lines.values().forEach(Line::close);
    }

    /** The requests for one server. */
    private final class Line {
        /** With as many lanes as there are places: none is waited for. */
        private final ExactlyOnceExecutor exactlyOnceExecutor =
                new ExactlyOnceExecutor(session, clock, random, deadlineNs, AT_ONCE, CounterStarts.USUAL);

        private final Semaphore places = new Semaphore(AT_ONCE);
        /** In the order of their deadlines. */
        private final Queue<Pending> waiting = new ConcurrentLinkedQueue<>();

        private final AtomicInteger waitingCount = new AtomicInteger();
        /** A step is scheduled that ends what is overdue in the queue. */
        private final AtomicBoolean watched = new AtomicBoolean();

        void execute(Pending pending) {
            if (waiting.isEmpty() && places.tryAcquire()) {
                boolean begun = false;
                try {
                    pending.begin(this);
                    begun = true;
                } finally {
                    if (!begun) {
                        beginWaitingAfterError();
                    }
                }
                beginWaiting(); // what came meanwhile and found no place
                return;
            }
            if (waitingCount.incrementAndGet() > MAX_WAITING) {
                waitingCount.decrementAndGet();
                throw new RejectedExecutionException(
                        MAX_WAITING
                                + " requests for the same server wait already; this one was not sent: wait for some stages to complete");
            }
            boolean queued = false;
            try {
                waiting.add(pending);
                queued = true;
            } finally {
                if (!queued) {
                    waitingCount.decrementAndGet();
                }
            }
            beginWaiting();
            try {
                watch();
            } catch (RuntimeException | Error e) {
                if (withdraws(pending)) {
                    throw e; // its deadline would not end it
                }
                LOG.error("The timer of a client failed; the request is under way", e);
            }
        }

        /** Takes a request out of the queue that is not sent; returns false if it is under way or over. */
        private boolean withdraws(Pending pending) {
            final boolean waits = waiting.remove(pending);
            if (waits) {
                waitingCount.decrementAndGet();
            }
            return waits;
        }

        /** Throws nothing: the caller has the stage of another request to return or to complete. */
        private void beginWaiting() {
            while (!waiting.isEmpty() && places.tryAcquire()) {
                final Pending next = poll();
                if (next == null) {
                    places.release();
                } else if (!begins(next) && isLeftToTimer()) {
                    return;
                }
            }
        }

        /** Returns false after an error, which the stage of that request reports. */
        private boolean begins(Pending next) {
            try {
                next.begin(this);
                return true;
            } catch (RuntimeException | Error e) {
                LOG.error("A request that waited for a place failed when it began", e);
                return false;
            }
        }

        /** After an error this thread may be unable to begin a request: the timer does, if it can. */
        private void beginWaitingAfterError() {
            if (!isLeftToTimer()) {
                beginWaiting();
            }
        }

        private boolean isLeftToTimer() {
            if (waiting.isEmpty()) {
                return true;
            }
            try {
                timer.at(clock.nanoTime(), this::beginWaiting);
                return true;
            } catch (RuntimeException | Error e) {
                LOG.error("The timer of a client failed; this thread begins the requests that wait", e);
                return false;
            }
        }

        private @Nullable Pending poll() {
            final Pending first = waiting.poll();
            if (first != null) {
                waitingCount.decrementAndGet();
            }
            return first;
        }

        /** Sees to it that a step looks at the first that waits when its time is over. */
        private void watch() {
            final Pending first = waiting.peek();
            if (first != null && watched.compareAndSet(false, true)) {
                boolean scheduled = false;
                try {
                    timer.at(first.deadlineNs, this::endOverdue);
                    scheduled = true;
                } finally {
                    if (!scheduled) {
                        watched.set(false);
                    }
                }
            }
        }

        private void endOverdue() {
            watched.set(false); // before: a request that waits from here on is seen here, or schedules a step itself
            final long nowNs = clock.nanoTime();
            Pending first = waiting.peek();
            while (first != null && (closed || nowNs - first.deadlineNs >= 0)) {
                if (waiting.remove(first)) {
                    waitingCount.decrementAndGet();
                    first.refuse(closed ? Status.CLOSED : Status.UNREACHABLE);
                }
                first = waiting.peek();
            }
            watch();
        }

        void close() {
            endOverdue();
            exactlyOnceExecutor.close();
        }

        Session session() {
            return session;
        }

        boolean isClosed() {
            return closed;
        }

        void after(long ns, Runnable step) {
            timer.at(clock.nanoTime() + ns, step);
        }

        /** The request needs its place no more. */
        void leave(Pending pending) {
            places.release();
            if (!pending.isBeginning()) {
                beginWaiting(); // else the thread that begins it does
            }
        }

        /** As {@link #leave}, after an error: its thread may be unable to begin another one. */
        void leaveAfterError(Pending pending) {
            places.release();
            if (!pending.isBeginning()) {
                beginWaitingAfterError();
            }
        }
    }

    /** A request that waits or is under way. */
    private static final class Pending {
        /** Of a call of the session: which of its return and its answer came first. */
        private enum Turn {
            CALLING,
            ANSWERED,
            RETURNED,
            /** An error ended the request: an answer that comes yet changes nothing. */
            FAILED
        }

        private final Request request;
        private final long deadlineNs;
        private final CompletableFuture<Request> stage = new CompletableFuture<>();
        private final AtomicReference<Turn> turn = new AtomicReference<>(Turn.CALLING);
        /** The thread that begins it, as long as it does. */
        private volatile @Nullable Thread beginner;

        /** The pause before the attempt that is next has been made. Of the thread that carries it on. */
        private boolean paused;

        Pending(Request request, long deadlineNs) {
            this.request = request;
            this.deadlineNs = deadlineNs;
        }

        boolean isBeginning() {
            return Thread.currentThread().equals(beginner);
        }

        /** Has a place. */
        void begin(Line line) {
            beginner = Thread.currentThread();
            RequestAttempts attempts = null;
            try {
                attempts = line.exactlyOnceExecutor.attempts(request, deadlineNs);
                carry(line, attempts);
            } finally {
                if (attempts == null) {
                    refuse(Status.UNREACHABLE);
                    line.leaveAfterError(this);
                }
                beginner = null;
            }
        }

        /** Hands out attempts until one is not answered at once, or a pause is due: then the reader of the answer, or the timer, goes on. */
        private void carry(Line line, RequestAttempts attempts) {
            boolean orderly = false;
            try {
                for (Request next = attempts.next(); next != null; next = attempts.answered()) {
                    if (attempts.pauseNs() > 0 && line.isClosed()) {
                        attempts.abandon();
                        request.fail(attempts.isReplyLost() ? lost() : Status.CLOSED);
                        break;
                    }
                    if (attempts.pauseNs() > 0 && !paused) {
                        paused = true;
                        line.after(attempts.pauseNs(), () -> carry(line, attempts));
                        orderly = true;
                        return;
                    }
                    paused = false;
                    turn.set(Turn.CALLING);
                    line.session().callAsync(next, deadlineNs, () -> answered(line, attempts));
                    if (turn.compareAndSet(Turn.CALLING, Turn.RETURNED)) {
                        orderly = true;
                        return;
                    }
                }
                orderly = true;
            } finally {
                if (!orderly) {
                    giveUp(line, attempts);
                }
            }
            try {
                line.leave(this);
            } finally {
                stage.complete(request);
            }
        }

        private void answered(Line line, RequestAttempts attempts) {
            if (turn.compareAndSet(Turn.CALLING, Turn.ANSWERED) || turn.get() == Turn.FAILED) {
                return; // the thread that calls goes on, or has given up
            }
            boolean orderly = false;
            try {
                final Request unused = attempts.answered();
                orderly = true;
            } finally {
                if (!orderly) {
                    giveUp(line, attempts);
                }
            }
            carry(line, attempts);
        }

        /** An error, which goes on to the caller: the outcome of the last attempt is unknown. */
        private void giveUp(Line line, RequestAttempts attempts) {
            turn.set(Turn.FAILED);
            attempts.abandon();
            refuse(lost());
            line.leaveAfterError(this);
        }

        /** What is said of a request that may have been applied. */
        private Status lost() {
            return request.operation().isMutation() ? Status.OUTCOME_UNKNOWN : Status.NO_REPLY;
        }

        void refuse(Status status) {
            request.fail(status);
            stage.complete(request);
        }
    }
}
