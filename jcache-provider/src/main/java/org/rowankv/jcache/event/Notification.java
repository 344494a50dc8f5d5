package org.rowankv.jcache.event;

import java.util.Arrays;
import javax.cache.event.EventType;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Change;
import org.rowankv.protocol.Operation;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.ResultBits;
import org.rowankv.protocol.Status;

/**
 * An event of one key in encoded form, and its delivery progress. The bytes are immutable; the {@link KeyEventQueue} of
 * the key guards the progress.
 */
final class Notification {
    private static final int NOT_IN_PARTS = -1;

    private final EventType type;
    private final byte[] key;
    private final byte @Nullable [] value;
    private final byte @Nullable [] oldValue;
    private final long version;
    /** The shard, if the value is the list of its parts; else −1. */
    private final int shard;

    private boolean done;
    private boolean abandoned;
    private @Nullable Throwable failure;

    private Notification(
            EventType type, byte[] key, byte @Nullable [] value, byte @Nullable [] oldValue, long version) {
        this(type, key, value, oldValue, version, NOT_IN_PARTS);
    }

    private Notification(
            EventType type, byte[] key, byte @Nullable [] value, byte @Nullable [] oldValue, long version, int shard) {
        this.shard = shard;
        this.type = type;
        this.key = key;
        this.value = value;
        this.oldValue = oldValue;
        this.version = version;
    }

    /** The expiry that the request found or caused, or null. */
    static @Nullable Notification ofExpiry(Request request) {
        final boolean bornExpired = request.has(ResultBits.BORN_EXPIRED) && request.has(ResultBits.EXISTED);
        final boolean touchedAway = request.has(ResultBits.TOUCHED) && request.accessTtlMs() == 0;
        if (!request.has(ResultBits.EXPIRED) && !bornExpired && !touchedAway) {
            return null;
        }
        return new Notification(EventType.EXPIRED, keyOf(request), null, request.resultBytes(), request.version());
    }

    /** The change that the request made, or null. */
    static @Nullable Notification ofChange(Request request) {
        if (request.status() != Status.OK) {
            return null;
        }
        if (request.operation() == Operation.PUT) {
            if (request.has(ResultBits.UPDATED)) {
                return new Notification(
                        EventType.UPDATED, keyOf(request), valueOf(request), request.resultBytes(), request.version());
            }
            return request.has(ResultBits.CREATED)
                    ? new Notification(EventType.CREATED, keyOf(request), valueOf(request), null, request.version())
                    : null;
        }
        return request.has(ResultBits.REMOVED)
                ? new Notification(EventType.REMOVED, keyOf(request), null, request.resultBytes(), request.version())
                : null;
    }

    /** The event of a change from the stream. */
    static Notification ofStream(int shard, Change change) {
        final EventType type = switch (change.type()) {
            case CREATED -> EventType.CREATED;
            case UPDATED -> EventType.UPDATED;
            case REMOVED -> EventType.REMOVED;
            case EXPIRED -> EventType.EXPIRED;
            case EVICTED -> throw new IllegalArgumentException("evictions have no event");
        };
        return new Notification(
                type,
                change.key(),
                change.value(),
                change.oldValue(),
                change.version(),
                change.inParts() ? shard : NOT_IN_PARTS);
    }

    private static byte[] keyOf(Request request) {
        return Arrays.copyOfRange(request.key(), request.keyOffset(), request.keyOffset() + request.keyLength());
    }

    private static byte[] valueOf(Request request) {
        return Arrays.copyOfRange(
                request.value(), request.valueOffset(), request.valueOffset() + request.valueLength());
    }

    EventType type() {
        return type;
    }

    byte[] key() {
        return key;
    }

    /** The new value; null after a removal or expiry. */
    byte @Nullable [] value() {
        return value;
    }

    /** Whether {@link #value} is the list of the value's parts. */
    boolean isInParts() {
        return shard != NOT_IN_PARTS;
    }

    /** Of a value in parts. */
    int shard() {
        return shard;
    }

    byte @Nullable [] oldValue() {
        return oldValue;
    }

    /** Bytes of key and values. */
    long length() {
        return (long) key.length + (value == null ? 0 : value.length) + (oldValue == null ? 0 : oldValue.length);
    }

    long version() {
        return version;
    }

    boolean isDone() {
        return done;
    }

    void done(@Nullable Throwable newFailure) {
        done = true;
        failure = newFailure;
    }

    boolean isAbandoned() {
        return abandoned;
    }

    /** Leaves the delivery to the thread that drains the key's queue; the own thread does not wait. */
    void abandon() {
        abandoned = true;
    }

    /** The exception of the first failing listener. */
    @Nullable
    Throwable failure() {
        return failure;
    }
}
