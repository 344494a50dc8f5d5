package org.rowankv.check.verify;

import java.util.Arrays;
import org.rowankv.protocol.Operation;
import org.rowankv.protocol.Request;

/** Copies of requests that share no bytes, for networks that deliver an attempt later or twice. */
public final class RequestCopy {
    private RequestCopy() {}

    /** A separate attempt of the same request. */
    public static Request of(Request request) {
        final byte[] key =
                Arrays.copyOfRange(request.key(), request.keyOffset(), request.keyOffset() + request.keyLength());
        final byte[] value = Arrays.copyOfRange(
                request.value(), request.valueOffset(), request.valueOffset() + request.valueLength());
        final Request copy = new Request();
        switch (request.operation()) {
            case GET -> copy.get(request.cacheId(), key, 0, key.length);
            case PUT -> copy.put(request.cacheId(), key, 0, key.length, value, 0, value.length);
            case DELETE -> copy.delete(request.cacheId(), key, 0, key.length);
            case TOUCH ->
                copy.touch(request.cacheId(), key, 0, key.length, request.expectedVersion(), request.accessTtlMs());
            case CLEAR -> copy.clear(request.cacheId(), request.shard());
            case OPEN_SESSION -> copy.openSession(request.shard(), request.sessionId(), request.asOf());
            case CLOSE_SESSION -> copy.closeSession(request.shard(), request.sessionId());
        }
        copy.when(request.condition(), request.expectedVersion())
                .ttl(request.createTtlMs(), request.updateTtlMs())
                .accessTtl(request.accessTtlMs())
                .requestValue(request.needsValue());
        copy.placed(request.hash(), request.shard());
        if (request.operation() != Operation.OPEN_SESSION && request.operation() != Operation.CLOSE_SESSION) {
            copy.identified(request.sessionId(), request.sequence(), request.unanswered());
        }
        return copy;
    }
}
