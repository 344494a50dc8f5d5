package org.rowankv.driver.session;

import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import org.rowankv.driver.Session;
import org.rowankv.protocol.Request;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.RandomSource;

/**
 * Carries requests to their outcomes for callers that do not wait. So many are under way at once; further ones begin as those
 * end. Thread-safe; stages are completed by the thread that has the answer.
 */
public final class AsyncRequests implements AutoCloseable {
    private static final int AT_ONCE = 128;

    private final Session session;
    /** With lanes of its own, as many as can be under way: none is waited for. */
    private final RequestIds requestIds;

    private final Semaphore places = new Semaphore(AT_ONCE);
    private final Queue<Pending> waiting = new ConcurrentLinkedQueue<>();

    public AsyncRequests(Session session, Clock clock, RandomSource random, long deadlineNs) {
        this.session = session;
        this.requestIds = new RequestIds(session, clock, random, deadlineNs, AT_ONCE);
    }

    /** The request and its arrays are not touched by the caller until the stage is complete. */
    public CompletionStage<Request> execute(Request request) {
        final Pending pending = new Pending(request);
        waiting.add(pending);
        beginWaiting();
        return pending.stage;
    }

    private void beginWaiting() {
        while (!waiting.isEmpty() && places.tryAcquire()) {
            final Pending next = waiting.poll();
            if (next == null) {
                places.release();
            } else {
                next.begin();
            }
        }
    }

    @Override
    public void close() {
        requestIds.close();
    }

    /** A request that waits or is under way. */
    private final class Pending {
        private final Request request;
        private final CompletableFuture<Request> stage = new CompletableFuture<>();

        Pending(Request request) {
            this.request = request;
        }

        void begin() {
            final SteppedRequest stepper = requestIds.stepped(request);
            send(stepper, stepper.first());
        }

        private void send(SteppedRequest stepper, Request attempt) {
            session.callAsync(attempt, () -> answered(stepper));
        }

        private void answered(SteppedRequest stepper) {
            final Request next = stepper.answered();
            if (next != null) {
                send(stepper, next);
                return;
            }
            places.release();
            beginWaiting();
            stage.complete(request);
        }
    }
}
