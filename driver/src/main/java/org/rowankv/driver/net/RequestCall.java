package org.rowankv.driver.net;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.wire.RequestDescriptor;

/**
 * One attempt of a request over one connection: a connection to the server, a place on it, the request is sent, the answer comes or does
 * not. Callers that wait ({@link #call}), batches ({@link CallBatch}) and callers that do not wait ({@link AsyncCall}) take these steps
 * alike; each has its own way to wait between them. Nothing here is tried again.
 */
final class RequestCall {
    private RequestCall() {}

    /** For a caller that waits, on its own thread. */
    static void call(Request request, Route route, long beginNs, long deadlineNs, long patienceNs) {
        final NetConnection connection = route.primaryOf(request.shard()).connection(deadlineNs);
        final InFlightRequest exchange = connection == null ? null : connection.borrow(deadlineNs);
        if (connection == null || exchange == null) {
            request.fail(Status.UNREACHABLE);
            return;
        }
        boolean isBegun = false;
        boolean isFlushed = false;
        try {
            isBegun = send(request, connection, exchange, route.term(), null);
            if (isBegun) {
                if (connection.isShared()) {
                    // Who else can run queues its own meanwhile, and the first to come back writes for all:
                    // of answers that came together, the callers go on together.
                    Thread.yield();
                }
                connection.flush();
            }
            isFlushed = true;
        } finally {
            if (!isFlushed) {
                connection.abandon(exchange);
            }
        }
        if (isBegun) {
            end(request, connection, connection.await(exchange, deadlineNs), beginNs, deadlineNs, patienceNs);
        }
    }

    /**
     * Queues it, unless it is too long for that server: then it is answered, and the place given back.
     *
     * @param async for a caller that does not wait, else null
     */
    static boolean send(
            Request request, NetConnection connection, InFlightRequest exchange, long term, @Nullable AsyncCall async) {
        if (RequestDescriptor.lengthOf(request) > connection.maxFrame()) {
            request.fail(Status.TOO_LARGE);
            connection.giveBack(exchange);
            return false;
        }
        exchange.prepare(request, term, async);
        if (async != null) {
            connection.begin(async);
        }
        connection.enqueue(exchange);
        return true;
    }

    /**
     * It came to that. If there is no answer, the request says so.
     *
     * @param beginNs when its caller turned to that server
     * @param patienceNs how long a connection may be silent
     */
    static void end(
            Request request,
            NetConnection connection,
            InFlightRequest.Outcome outcome,
            long beginNs,
            long deadlineNs,
            long patienceNs) {
        switch (outcome) {
            case ANSWERED -> {}
            case UNSENT -> request.fail(Status.UNREACHABLE);
            case LOST -> {
                request.fail(Status.NO_REPLY);
                if (connection.isSilent(beginNs, deadlineNs, patienceNs)) {
                    connection.fail(new IOException("nothing was heard for too long"));
                }
            }
        }
    }
}
