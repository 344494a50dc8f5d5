package org.rowankv.driver.net;

import java.io.IOException;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.wire.RequestDescriptor;

/** A request under way for a caller that waits: one attempt on one connection, on the caller's thread. */
final class BlockingCall {
    private BlockingCall() {}

    /** Sends it once, if that is possible; the answer is in the request. */
    static Status attempt(Request request, Route now, long beginNs, long deadlineNs, long patienceNs) {
        final NetConnection connection = now.primaryOf(request.shard()).connection(deadlineNs);
        final Exchange exchange = connection == null ? null : connection.borrow(deadlineNs);
        if (connection == null || exchange == null) {
            request.fail(Status.UNREACHABLE);
            return Status.UNREACHABLE;
        }
        boolean isBegun = false;
        boolean isFlushed = false;
        try {
            isBegun = send(request, connection, exchange, now.term());
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
            receive(request, connection, exchange, beginNs, deadlineNs, patienceNs);
        }
        return request.status();
    }

    /** Queues it, unless it is too long for that server: then it is answered, and the place given back. */
    static boolean send(Request request, NetConnection connection, Exchange exchange, long term) {
        if (RequestDescriptor.lengthOf(request) > connection.maxFrame()) {
            request.fail(Status.TOO_LARGE);
            connection.giveBack(exchange);
            return false;
        }
        exchange.prepare(request, term, null);
        connection.enqueue(exchange);
        return true;
    }

    /**
     * Waits for the answer to what was sent.
     *
     * @param beginNs when the caller turned to that server
     * @param patienceNs how long a connection may be silent
     */
    static void receive(
            Request request,
            NetConnection connection,
            Exchange exchange,
            long beginNs,
            long deadlineNs,
            long patienceNs) {
        switch (connection.await(exchange, deadlineNs)) {
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
