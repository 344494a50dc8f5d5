package org.rowankv.driver.net;

import static java.util.Objects.requireNonNull;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.wire.RequestDescriptor;
import org.rowankv.runtime.Clock;

/**
 * The attempts of a session's requests: a connection to the server and a slot there, the frame, the response or its
 * absence. Callers that block, batches and callers that do not block take the same steps, and differ in how they wait.
 * Nothing here repeats anything. Thread-safe.
 */
final class Attempts {
    /** An attempt of a caller that does not block; {@link AsyncReader} ends it. */
    record AsyncCall(Request request, Runnable whenAnswered) {
        void end(InFlightRequest.Outcome outcome) {
            try {
                Attempts.end(request, outcome);
            } finally {
                whenAnswered.run();
            }
        }
    }

    private final NetSettings settings;
    private final Clock clock;

    Attempts(NetSettings settings, Clock clock) {
        this.settings = settings;
        this.clock = clock;
    }

    /** Until when an attempt waits for a connection and a slot: longer only because a later one would do so again. */
    private long admittedBy(long nowNs, long deadlineNs) {
        return deadlineNs - nowNs < settings.silenceNs() ? deadlineNs : nowNs + settings.silenceNs();
    }

    private @Nullable InFlightRequest admit(ServerLink link, long nowNs, long deadlineNs) {
        final long untilNs = admittedBy(nowNs, deadlineNs);
        final NetConnection connection = link.connection(untilNs);
        return connection == null ? null : connection.acquire(untilNs);
    }

    /** Prepares the request, unless it exceeds the server's frame limit: then it fails and the slot is released. */
    static boolean prepares(
            InFlightRequest own, Request request, long term, long nowNs, long deadlineNs, @Nullable AsyncCall async) {
        if (RequestDescriptor.lengthOf(request) > own.connection().maxFrame()) {
            request.fail(Status.TOO_LARGE);
            own.connection().release(own);
            return false;
        }
        own.begin(request.shard(), term, nowNs, deadlineNs).prepare(request, null, async);
        return true;
    }

    /** Sets the status of a request after its attempt. */
    private static void end(Request request, InFlightRequest.Outcome outcome) {
        switch (outcome) {
            case UNSENT -> request.fail(Status.UNREACHABLE);
            case LOST -> request.fail(Status.NO_REPLY);
            case ANSWERED -> {
                // Of a server that ends or has failed; another one, or its next incarnation, knows better.
                if (request.status() == Status.CLOSED) {
                    request.fail(Status.UNREACHABLE);
                } else if (request.status() == Status.OUTCOME_UNKNOWN) {
                    request.fail(Status.NO_REPLY);
                }
            }
        }
    }

    /** Makes one attempt on the calling thread. */
    void call(Request request, Route route, long nowNs, long deadlineNs) {
        final InFlightRequest own = admit(route.primaryOf(request.shard()), nowNs, deadlineNs);
        if (own == null) {
            request.fail(Status.UNREACHABLE);
        } else if (prepares(own, request, route.term(), nowNs, deadlineNs, null)) {
            own.connection().send(own);
            end(request, own.connection().await(own));
        }
    }

    /** Sends a control request; returns whether the server responded. */
    boolean call(ServerLink link, ControlRequest controlRequest, long term, long deadlineNs) {
        final long nowNs = clock.nanoTime();
        final InFlightRequest own = admit(link, nowNs, deadlineNs);
        if (own == null) {
            return false;
        }
        own.begin(controlRequest.shard(), term, nowNs, deadlineNs).prepare(null, controlRequest, null);
        own.connection().send(own);
        return own.connection().await(own) == InFlightRequest.Outcome.ANSWERED;
    }

    /** Makes one attempt if it needs not wait; ends it on the thread that receives the response. */
    void callAsync(Request request, Route route, long nowNs, long deadlineNs, Runnable whenAnswered) {
        final NetConnection present = route.primaryOf(request.shard()).presentOrConnect();
        final InFlightRequest own = present == null ? null : present.tryAcquire();
        if (own == null) {
            request.fail(Status.UNREACHABLE);
            whenAnswered.run();
        } else if (prepares(own, request, route.term(), nowNs, deadlineNs, new AsyncCall(request, whenAnswered))) {
            own.connection().send(own);
        } else {
            whenAnswered.run();
        }
    }

    /** Makes one attempt of each request: one write per connection and one wait for all, as far as slots are free. */
    void callAll(List<Request> requests, Route route, long nowNs, long deadlineNs) {
        try (Batch batch = new Batch(route, nowNs, deadlineNs)) {
            batch.begin(requests);
            batch.finish();
        }
    }

    /** Confined to one thread. */
    private final class Batch implements AutoCloseable {
        private final Route route;
        private final long beginNs;
        private final long deadlineNs;
        private final List<InFlightRequest> inFlight = new ArrayList<>();
        private final List<NetConnection> unflushed = new ArrayList<>();

        Batch(Route route, long beginNs, long deadlineNs) {
            this.route = route;
            this.beginNs = beginNs;
            this.deadlineNs = deadlineNs;
        }

        /** Sends first on present connections: an unreachable server delays only its own requests. */
        void begin(List<Request> requests) {
            final List<Request> unconnected = new ArrayList<>(0);
            for (Request request : requests) {
                if (!route.hasShard(request.shard())) {
                    request.fail(Status.BAD_REQUEST);
                } else if (!begins(request, route.primaryOf(request.shard()).present())) {
                    unconnected.add(request);
                }
            }
            flush();
            for (Request request : unconnected) {
                final long untilNs = admittedBy(clock.nanoTime(), deadlineNs);
                if (!begins(request, route.primaryOf(request.shard()).connection(untilNs))) {
                    request.fail(Status.UNREACHABLE);
                }
            }
        }

        /** Queues a request; completes the previous ones if no slot is free. */
        private boolean begins(Request request, @Nullable NetConnection connection) {
            if (connection == null) {
                return false;
            }
            InFlightRequest own = connection.tryAcquire();
            if (own == null) {
                finish();
                own = connection.acquire(admittedBy(clock.nanoTime(), deadlineNs));
            }
            if (own == null) {
                request.fail(Status.UNREACHABLE);
            } else if (prepares(own, request, route.term(), beginNs, deadlineNs, null)) {
                inFlight.add(own);
                connection.enqueue(own);
                if (!unflushed.contains(connection)) {
                    unflushed.add(connection);
                }
            }
            return true;
        }

        private void flush() {
            unflushed.forEach(NetConnection::flush);
            unflushed.clear();
        }

        /** Sends the queued requests and awaits all responses. */
        void finish() {
            flush();
            while (!inFlight.isEmpty()) {
                final InFlightRequest own = inFlight.remove(inFlight.size() - 1);
                final Request request = requireNonNull(own.request());
                end(request, own.connection().await(own));
            }
        }

        /** Abandons the requests after an error: no other thread touches them afterwards. */
        @Override
        public void close() {
            inFlight.forEach(own -> own.connection().abandon(own));
            inFlight.clear();
        }
    }
}
