package org.rowankv.server.frontend;

import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Request;
import org.rowankv.server.dispatch.PollableCall;
import org.rowankv.server.dispatch.PollableCalls;

/** The context of one request that a loop has taken and not answered: used again and again, so that none is made per request. */
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
    /** Of its arrays, as last counted. */
    private int counted;

    PendingRequest(PollableCalls calls) {
        this.owner = calls;
        this.call = calls.callOf(request);
    }

    /** Room for key and value, which the request refers to while it is under way. */
    byte[] body(int length) {
        if (body.length < length) {
            body = new byte[Math.max(length, Math.min(2 * body.length, KEPT_BYTES))];
        }
        return body;
    }

    /** By how much its arrays have grown since the last call. */
    int growth() {
        final int now = body.length + request.result().length;
        final int grown = now - counted;
        counted = now;
        return grown;
    }

    /** It is not used again; how much memory was counted. */
    int forgotten() {
        final int before = counted;
        counted = 0;
        return before;
    }

    /** Who has asked, and with what configuration. */
    void came(ClientConnection from, long newNumber, int ofShard, long term, long nowNs) {
        connection = from;
        number = newNumber;
        shard = ofShard;
        clientTerm = term;
        beganNs = nowNs;
    }

    /** From the beginning, by who serves now. */
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

    /** Of the configuration by which it was sent here. */
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

    /** When it came, by the clock of intervals. */
    long beganNs() {
        return beganNs;
    }

    void end() {
        connection = null;
    }

    /** Whether it is that server's, or would be another one's and keep that in memory. */
    boolean isOf(PollableCalls calls) {
        return owner == calls;
    }

    /** Whether it holds no more memory than is kept for those to come. */
    boolean isKept() {
        return body.length <= KEPT_BYTES && request.result().length <= KEPT_BYTES;
    }
}
