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
import java.util.function.Consumer;
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
 * Executor of requests for callers that do not block. Each server has {@value #AT_ONCE} slots, a queue and client
 * sessions of its own, so an unresponsive server delays no other. The deadline counts from {@link #execute}, queueing
 * included: a request that reaches it in the queue ends with UNREACHABLE, which states that it was not sent.
 * Thread-safe; the thread that receives the response completes the stage.
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
    private final Consumer<Request> parted;
    /** By the primary of the request's shard at submission. */
    private final Map<Integer, ServerQueue> queues = new ConcurrentHashMap<>();

    private volatile boolean closed;

    public AsyncRequests(Session session, Clock clock, RandomSource random, long deadlineNs, StepTimer timer) {
        this(session, clock, random, deadlineNs, timer, request -> {});
    }

    /** @param parted executes the rest of a request that {@linkplain Status#concernsParts concerns parts}; may block */
    public AsyncRequests(
            Session session,
            Clock clock,
            RandomSource random,
            long deadlineNs,
            StepTimer timer,
            Consumer<Request> parted) {
        this.session = session;
        this.clock = clock;
        this.random = random;
        this.deadlineNs = deadlineNs;
        this.timer = timer;
        this.parted = parted;
    }

    /**
     * The caller must not touch the request or its arrays until the stage completes.
     *
     * @throws RejectedExecutionException if {@value #MAX_WAITING} requests for the same server already wait; nothing
     *     was sent
     */
    public CompletionStage<Request> execute(Request request) {
        final Pending pending = new Pending(request, clock.nanoTime() + deadlineNs);
        queues.computeIfAbsent(
                        ExactlyOnceExecutor.serverOf(request, session.configuration()), server -> new ServerQueue())
                .execute(pending);
        return pending.stage;
    }

    /** Requests in the queue end with CLOSED; those in flight continue until the session closes. */
    @Override
    public void close() {
        closed = true;
        timer.hurry();
        queues.values().forEach(ServerQueue::close);
    }

    /** Queue and slots of the requests for one server. */
    private final class ServerQueue {
        /** Has a client session per slot, so none is waited for. */
        private final ExactlyOnceExecutor exactlyOnceExecutor =
                new ExactlyOnceExecutor(session, clock, random, deadlineNs, AT_ONCE, CounterStarts.USUAL);

        private final Semaphore slots = new Semaphore(AT_ONCE);
        /** In the order of their deadlines. */
        private final Queue<Pending> waiting = new ConcurrentLinkedQueue<>();

        private final AtomicInteger waitingCount = new AtomicInteger();
        /** A scheduled step will end overdue requests of the queue. */
        private final AtomicBoolean watched = new AtomicBoolean();

        void execute(Pending pending) {
            if (waiting.isEmpty() && slots.tryAcquire()) {
                boolean begun = false;
                try {
                    pending.begin(this);
                    begun = true;
                } finally {
                    if (!begun) {
                        beginWaitingAfterError();
                    }
                }
                beginWaiting(); // requests that arrived meanwhile without a slot
                return;
            }
            if (waitingCount.incrementAndGet() > MAX_WAITING) {
                waitingCount.decrementAndGet();
                throw new RejectedExecutionException(MAX_WAITING
                        + " requests for the same server wait already; this one was not sent."
                        + " Wait for stages to complete, then submit it again");
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
                    throw e; // no step would end it at its deadline
                }
                LOG.error("ROWAN-1008 Client timer failed; the request stays in flight", e);
            }
        }

        /** Removes an unsent request from the queue; false if it is in flight or complete. */
        private boolean withdraws(Pending pending) {
            final boolean waits = waiting.remove(pending);
            if (waits) {
                waitingCount.decrementAndGet();
            }
            return waits;
        }

        /** Throws nothing: the caller has the stage of another request to return or to complete. */
        private void beginWaiting() {
            while (!waiting.isEmpty() && slots.tryAcquire()) {
                final Pending next = poll();
                if (next == null) {
                    slots.release();
                } else if (!begins(next) && isLeftToTimer()) {
                    return;
                }
            }
        }

        /** False after an error, which the stage of that request reports. */
        private boolean begins(Pending next) {
            try {
                next.begin(this);
                return true;
            } catch (RuntimeException | Error e) {
                LOG.error("ROWAN-1009 Queued request failed to start", e);
                return false;
            }
        }

        /** After an error this thread may be unable to start a request, so the timer does. */
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
                LOG.error("ROWAN-1010 Client timer failed; this thread starts the queued requests", e);
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

        /** Schedules a step at the deadline of the first queued request. */
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
            watched.set(false); // first: a request queued from here on is seen below, or schedules a step itself
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

        void completeParts(Request request) {
            parted.accept(request);
        }

        void after(long ns, Runnable step) {
            timer.at(clock.nanoTime() + ns, step);
        }

        /** Releases the slot of a request. */
        void leave(Pending pending) {
            slots.release();
            if (!pending.isBeginning()) {
                beginWaiting(); // else the starting thread does
            }
        }

        /** As {@link #leave}, after an error: this thread may be unable to start another request. */
        void leaveAfterError(Pending pending) {
            slots.release();
            if (!pending.isBeginning()) {
                beginWaitingAfterError();
            }
        }
    }

    /** A request in the queue or in flight. */
    private static final class Pending {
        /** Of a call of the session: which came first, its return or its response. */
        private enum CallState {
            CALLING,
            ANSWERED,
            RETURNED,
            /** An error ended the request: a late response changes nothing. */
            FAILED
        }

        private final Request request;
        private final long deadlineNs;
        private final CompletableFuture<Request> stage = new CompletableFuture<>();
        private final AtomicReference<CallState> callState = new AtomicReference<>(CallState.CALLING);
        /** The thread that starts the request, while it does so. */
        private volatile @Nullable Thread starter;

        /** Whether the pause before the next attempt is over. Owned by the thread that advances the request. */
        private boolean paused;

        Pending(Request request, long deadlineNs) {
            this.request = request;
            this.deadlineNs = deadlineNs;
        }

        boolean isBeginning() {
            return Thread.currentThread().equals(starter);
        }

        /** Starts the request, which holds a slot. */
        void begin(ServerQueue queue) {
            starter = Thread.currentThread();
            RequestAttempts attempts = null;
            try {
                attempts = queue.exactlyOnceExecutor.attempts(request, deadlineNs);
                carry(queue, attempts);
            } finally {
                if (attempts == null) {
                    refuse(Status.UNREACHABLE);
                    queue.leaveAfterError(this);
                }
                starter = null;
            }
        }

        /**
         * Sends attempts until one has no immediate response or a pause is due; the reader of the response, or the
         * timer, then continues.
         */
        private void carry(ServerQueue queue, RequestAttempts attempts) {
            boolean orderly = false;
            try {
                for (Request next = attempts.next(); next != null; next = attempts.answered()) {
                    if (attempts.pauseNs() > 0 && queue.isClosed()) {
                        attempts.abandon();
                        request.fail(attempts.isReplyLost() ? lost() : Status.CLOSED);
                        break;
                    }
                    if (attempts.pauseNs() > 0 && !paused) {
                        paused = true;
                        queue.after(attempts.pauseNs(), () -> carry(queue, attempts));
                        orderly = true;
                        return;
                    }
                    paused = false;
                    callState.set(CallState.CALLING);
                    queue.session().callAsync(next, deadlineNs, () -> answered(queue, attempts));
                    if (callState.compareAndSet(CallState.CALLING, CallState.RETURNED)) {
                        orderly = true;
                        return;
                    }
                }
                orderly = true;
            } finally {
                if (!orderly) {
                    giveUp(queue, attempts);
                }
            }
            try {
                queue.leave(this);
            } finally {
                if (request.status().concernsParts()) {
                    completeParts(queue);
                } else {
                    stage.complete(request);
                }
            }
        }

        /** Parts are awaited, so not on a thread that serves other callers. */
        private void completeParts(ServerQueue queue) {
            final CompletableFuture<Void> completion = CompletableFuture.runAsync(() -> queue.completeParts(request));
            final CompletableFuture<Void> unused = completion.whenComplete((none, failure) -> {
                if (failure != null) {
                    refuse(lost());
                } else {
                    stage.complete(request);
                }
            });
        }

        private void answered(ServerQueue queue, RequestAttempts attempts) {
            if (callState.compareAndSet(CallState.CALLING, CallState.ANSWERED) || callState.get() == CallState.FAILED) {
                return; // the calling thread continues, or has failed
            }
            boolean orderly = false;
            try {
                final Request unused = attempts.answered();
                orderly = true;
            } finally {
                if (!orderly) {
                    giveUp(queue, attempts);
                }
            }
            carry(queue, attempts);
        }

        /** Ends the request after an error, which propagates: the outcome of the last attempt is unknown. */
        private void giveUp(ServerQueue queue, RequestAttempts attempts) {
            callState.set(CallState.FAILED);
            attempts.abandon();
            refuse(lost());
            queue.leaveAfterError(this);
        }

        /** Status of a request that may have been applied. */
        private Status lost() {
            return request.operation().isMutation() ? Status.OUTCOME_UNKNOWN : Status.NO_REPLY;
        }

        void refuse(Status status) {
            request.fail(status);
            stage.complete(request);
        }
    }
}
