package org.rowankv.driver.net;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.wire.RequestDescriptor;

/**
 * One attempt of a request: acquire a connection and a slot, send, await the response. Blocking callers ({@link
 * #call}), batches ({@link CallBatch}) and asynchronous callers ({@link AsyncCall}) share these steps; each waits in
 * its own way. Nothing here retries.
 */
final class RequestCall {
    private RequestCall() {}

    /** Makes one attempt on the calling thread. */
    static void call(Request request, Route route, long beginNs, long deadlineNs, long silenceNs) {
        final NetConnection connection = route.primaryOf(request.shard()).connection(deadlineNs);
        final InFlightRequest inFlight = connection == null ? null : connection.acquire(deadlineNs);
        if (connection == null || inFlight == null) {
            request.fail(Status.UNREACHABLE);
            return;
        }
        boolean isBegun = false;
        boolean isFlushed = false;
        try {
            isBegun = send(request, connection, inFlight, route.term(), null);
            if (isBegun) {
                if (connection.isShared()) {
                    // Lets other callers queue their requests, so that one write sends all: callers whose responses
                    // arrived together continue together.
                    Thread.yield();
                }
                connection.flush();
            }
            isFlushed = true;
        } finally {
            if (!isFlushed) {
                connection.abandon(inFlight);
            }
        }
        if (isBegun) {
            end(request, connection, connection.await(inFlight, deadlineNs), beginNs, deadlineNs, silenceNs);
        }
    }

    /**
     * Queues the request, unless it exceeds the server's frame limit: then it fails and the slot is released.
     *
     * @param async for an asynchronous caller, else null
     */
    static boolean send(
            Request request, NetConnection connection, InFlightRequest inFlight, long term, @Nullable AsyncCall async) {
        if (RequestDescriptor.lengthOf(request) > connection.maxFrame()) {
            request.fail(Status.TOO_LARGE);
            connection.release(inFlight);
            return false;
        }
        inFlight.prepare(request, term, async);
        if (async != null) {
            connection.begin(async);
        }
        connection.enqueue(inFlight);
        return true;
    }

    /**
     * Sets the status of a request without a response.
     *
     * @param beginNs start of the attempt
     * @param silenceNs how long a connection may be silent
     */
    static void end(
            Request request,
            NetConnection connection,
            InFlightRequest.Outcome outcome,
            long beginNs,
            long deadlineNs,
            long silenceNs) {
        switch (outcome) {
            case ANSWERED -> {}
            case UNSENT -> request.fail(Status.UNREACHABLE);
            case LOST -> {
                request.fail(Status.NO_REPLY);
                if (connection.isSilent(beginNs, deadlineNs, silenceNs)) {
                    connection.fail(new IOException("no bytes received for too long"));
                }
            }
        }
    }
}
