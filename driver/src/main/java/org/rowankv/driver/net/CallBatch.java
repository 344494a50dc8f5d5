package org.rowankv.driver.net;

import java.util.ArrayList;
import java.util.List;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;

/**
 * Batch of attempts of one caller: one write per connection and one wait for all, as far as slots are free. Confined to
 * one thread.
 */
final class CallBatch implements AutoCloseable {
    private record Call(Request request, NetConnection connection, InFlightRequest inFlight) {}

    private final Route route;
    private final long beginNs;
    private final long deadlineNs;
    private final long silenceNs;
    private final List<Call> calls = new ArrayList<>();
    private final List<NetConnection> unflushed = new ArrayList<>();

    private CallBatch(Route route, long beginNs, long deadlineNs, long silenceNs) {
        this.route = route;
        this.beginNs = beginNs;
        this.deadlineNs = deadlineNs;
        this.silenceNs = silenceNs;
    }

    /** Makes one attempt of each request. */
    static void callAll(List<Request> requests, Route route, long beginNs, long deadlineNs, long silenceNs) {
        try (CallBatch batch = new CallBatch(route, beginNs, deadlineNs, silenceNs)) {
            batch.begin(requests);
            batch.finish();
        }
    }

    /** Sends first on present connections: an unreachable server delays only its own requests. */
    private void begin(List<Request> requests) {
        List<Request> unconnected = null;
        for (Request request : requests) {
            if (!begin(request, false)) {
                unconnected = unconnected == null ? new ArrayList<>() : unconnected;
                unconnected.add(request);
            }
        }
        if (unconnected != null) {
            flush();
            unconnected.forEach(request -> begin(request, true));
        }
    }

    /** False if the connection is missing and must not be established. */
    private boolean begin(Request request, boolean connects) {
        if (!route.hasShard(request.shard())) {
            request.fail(Status.BAD_REQUEST);
            return true;
        }
        final ServerLink link = route.primaryOf(request.shard());
        final NetConnection connection = connects ? link.connection(deadlineNs) : link.present();
        if (connection != null) {
            add(request, connection);
        } else if (connects) {
            request.fail(Status.UNREACHABLE);
        }
        return connects || connection != null;
    }

    /** Queues a request; completes the previous ones if no slot is free. */
    private void add(Request request, NetConnection connection) {
        InFlightRequest inFlight = connection.tryAcquire();
        if (inFlight == null) {
            finish();
            inFlight = connection.acquire(deadlineNs);
        }
        if (inFlight == null) {
            request.fail(Status.UNREACHABLE);
            return;
        }
        calls.add(new Call(request, connection, inFlight));
        if (!RequestCall.send(request, connection, inFlight, route.term(), null)) {
            calls.remove(calls.size() - 1);
        } else if (!unflushed.contains(connection)) {
            unflushed.add(connection);
        }
    }

    private void flush() {
        unflushed.forEach(NetConnection::flush);
        unflushed.clear();
    }

    /** Sends the queued requests and awaits all responses. */
    private void finish() {
        flush();
        while (!calls.isEmpty()) {
            final Call call = calls.remove(calls.size() - 1);
            final InFlightRequest.Outcome outcome = call.connection().await(call.inFlight(), deadlineNs);
            RequestCall.end(call.request(), call.connection(), outcome, beginNs, deadlineNs, silenceNs);
        }
    }

    /** Abandons the requests after an error: no other thread touches them afterwards. */
    @Override
    public void close() {
        calls.forEach(call -> call.connection().abandon(call.inFlight()));
        calls.clear();
    }
}
