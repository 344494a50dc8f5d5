package org.rowankv.server.request;

import java.nio.charset.StandardCharsets;
import org.rowankv.protocol.Condition;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.ResultBits;
import org.rowankv.protocol.Status;

/** One mutation of a client, its times of call and return, and its response. */
final class Asked {
    enum Kind {
        PUT,
        PUT_IF_ABSENT,
        /** If the key still has the object that it had at the start. */
        REPLACE_FIRST,
        DELETE,
        CLEAR
    }

    /** A response without versions. */
    record Answer(Status status, boolean existed, String old) {}

    static final int CACHE = 5;

    final Kind kind;
    final int key;
    final String value;
    final long session;
    final long sequence;
    long askedAt;
    /** {@link Long#MAX_VALUE}: never. */
    long answeredAt = Long.MAX_VALUE;

    boolean begun;
    Answer answer;
    long version;
    long previousVersion;
    boolean replayed;

    Asked(Kind kind, int key, String value, long session, long sequence) {
        this.kind = kind;
        this.key = key;
        this.value = value;
        this.session = session;
        this.sequence = sequence;
    }

    Request request(byte[][] keys, long[] hashes, long firstVersion) {
        final byte[] bytes = keys[key];
        final Request request = new Request();
        final byte[] valueBytes = value.getBytes(StandardCharsets.US_ASCII);
        switch (kind) {
            case PUT, PUT_IF_ABSENT, REPLACE_FIRST ->
                request.put(CACHE, bytes, 0, bytes.length, valueBytes, 0, valueBytes.length);
            case DELETE -> request.delete(CACHE, bytes, 0, bytes.length);
            case CLEAR -> request.clear(CACHE, 0);
        }
        if (kind == Kind.PUT_IF_ABSENT) {
            request.when(Condition.IF_ABSENT);
        } else if (kind == Kind.REPLACE_FIRST) {
            request.when(Condition.IF_VERSION, firstVersion);
        }
        if (kind != Kind.CLEAR) {
            request.requestValue(true);
            request.placed(hashes[key], 0);
        }
        request.identified(session, sequence, (int) sequence - 1);
        return request;
    }

    void answered(Request request, long now) {
        answeredAt = now;
        final byte[] old = request.resultBytes();
        answer = new Answer(
                request.status(),
                request.has(ResultBits.EXISTED),
                old == null ? null : new String(old, StandardCharsets.US_ASCII));
        version = request.version();
        previousVersion = request.previousVersion();
        replayed = request.has(ResultBits.REPLAYED);
    }

    boolean isAnswered() {
        return answer != null;
    }

    /** The server was not the primary any more. */
    boolean wasRefused() {
        return isAnswered() && answer.status == Status.NOT_PRIMARY;
    }

    boolean tookEffect() {
        return isAnswered() && answer.status == Status.OK;
    }

    @Override
    public String toString() {
        return kind + " " + key + " " + value + " [" + askedAt + ", " + answeredAt + "] " + answer + " v" + version;
    }
}
