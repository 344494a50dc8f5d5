package org.rowankv.server.frontend;

import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Request;
import org.rowankv.server.dispatch.PollableCall;
import org.rowankv.server.dispatch.PollableCalls;

/** The reusable context of one unanswered request of a loop. */
final class PendingRequest {
    private static final int KEPT_BYTES = 64 << 10;
    private static final int FIRST_BYTES = 512;

    private final Request request = new Request();
    private PollableCalls owner;
    private PollableCall call;
    private byte[] body = new byte[FIRST_BYTES];
    private @Nullable ClientConnection connection;
    private long number;
    private long beganNs;
    private long clientTerm;
    private int shard;
    private long heldSinceNs;
    /** Size of its arrays, as last counted. */
    private int counted;

    PendingRequest(PollableCalls calls) {
        this.owner = calls;
        this.call = calls.callOf(request);
    }

    /** Buffer for key and value, which the request refers to while it is pending. */
    byte[] body(int length) {
        if (body.length < length) {
            body = new byte[Math.max(length, Math.min(2 * body.length, KEPT_BYTES))];
        }
        return body;
    }

    /** Growth of its arrays since the last call. */
    int growth() {
        final int now = body.length + request.result().length;
        final int grown = now - counted;
        counted = now;
        return grown;
    }

    /** Returns the counted memory; the context is not used again. */
    int forgotten() {
        final int before = counted;
        counted = 0;
        return before;
    }

    /** Sets the origin of the request and the term of its client. */
    void arrived(ClientConnection from, long newNumber, int ofShard, long term, long nowNs) {
        connection = from;
        number = newNumber;
        shard = ofShard;
        clientTerm = term;
        beganNs = nowNs;
    }

    /** Restarts the request on the current backend. */
    void begin(PollableCalls calls) {
        if (calls != owner) {
            owner = calls;
            call = calls.callOf(request);
        }
        call.again();
    }

    int shard() {
        return shard;
    }

    /** Term of the configuration by which the client routed the request. */
    long clientTerm() {
        return clientTerm;
    }

    void hold(long nowNs) {
        heldSinceNs = nowNs;
    }

    long heldSinceNs() {
        return heldSinceNs;
    }

    Request request() {
        return request;
    }

    PollableCall call() {
        return call;
    }

    @Nullable
    ClientConnection connection() {
        return connection;
    }

    long number() {
        return number;
    }

    /** Time of arrival, by the interval clock. */
    long beganNs() {
        return beganNs;
    }

    void end() {
        connection = null;
    }

    /** Whether it belongs to that backend; a context of another backend would keep that one reachable. */
    boolean isOf(PollableCalls calls) {
        return owner == calls;
    }

    /** Whether it is small enough to be kept for reuse. */
    boolean isKept() {
        return body.length <= KEPT_BYTES && request.result().length <= KEPT_BYTES;
    }
}
