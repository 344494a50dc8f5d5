package org.rowankv.driver.net;

import java.util.ArrayList;
import java.util.List;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;

/**
 * Requests of one caller that are under way together: one write per connection and one wait for all, as far as places on the
 * connections go. For one thread.
 */
final class CallBatch implements AutoCloseable {
    private record Call(Request request, NetConnection connection, InFlightRequest exchange) {}

    private final Route route;
    private final long beginNs;
    private final long deadlineNs;
    private final long patienceNs;
    private final List<Call> calls = new ArrayList<>();
    private final List<NetConnection> unflushed = new ArrayList<>();

    private CallBatch(Route route, long beginNs, long deadlineNs, long patienceNs) {
        this.route = route;
        this.beginNs = beginNs;
        this.deadlineNs = deadlineNs;
        this.patienceNs = patienceNs;
    }

    /** Makes one attempt of each. */
    static void callAll(List<Request> requests, Route route, long beginNs, long deadlineNs, long patienceNs) {
        try (CallBatch batch = new CallBatch(route, beginNs, deadlineNs, patienceNs)) {
            batch.begin(requests);
            batch.finish();
        }
    }

    /** Those first that need no new connection: a server that cannot be reached holds up nothing but its own. */
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

    /** False if there is no connection yet, and none is to be made. */
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

    /** Queues one more; waits for those before it when there is no place for it. */
    private void add(Request request, NetConnection connection) {
        InFlightRequest exchange = connection.tryBorrow();
        if (exchange == null) {
            finish();
            exchange = connection.borrow(deadlineNs);
        }
        if (exchange == null) {
            request.fail(Status.UNREACHABLE);
            return;
        }
        calls.add(new Call(request, connection, exchange));
        if (!RequestCall.send(request, connection, exchange, route.term(), null)) {
            calls.remove(calls.size() - 1);
        } else if (!unflushed.contains(connection)) {
            unflushed.add(connection);
        }
    }

    private void flush() {
        unflushed.forEach(NetConnection::flush);
        unflushed.clear();
    }

    /** Sends what is queued, and waits for all answers. */
    private void finish() {
        flush();
        while (!calls.isEmpty()) {
            final Call call = calls.remove(calls.size() - 1);
            final InFlightRequest.Outcome outcome = call.connection().await(call.exchange(), deadlineNs);
            RequestCall.end(call.request(), call.connection(), outcome, beginNs, deadlineNs, patienceNs);
        }
    }

    /** After an error: nobody touches the requests any more. */
    @Override
    public void close() {
        calls.forEach(call -> call.connection().abandon(call.exchange()));
        calls.clear();
    }
}
