package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Condition;
import org.rowankv.protocol.Operation;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.ResultBits;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.Ttl;
import org.rowankv.runtime.Clock;
import org.rowankv.server.retention.ExpirySweepAgent;

/**
 * Model of a store with one cache, without a log. {@link #check} compares the answer to a request with the model,
 * reports a difference, and advances the model. Used by one thread.
 */
final class ModelCache {
    private final Clock clock;
    final Map<String, ModelObject> objects = new HashMap<>();
    /** By key: its last write or removal, counted in requests. */
    private final Map<String, Long> lastChange = new HashMap<>();

    /** Objects expired for so long that they may have been swept, by a clock that may have been set back since. */
    private final Set<String> maybeSwept = new HashSet<>();

    private final Map<Integer, Long> lastVersion = new HashMap<>();
    private long now;
    private long lastRemoval;

    // --- the answer that is expected ---
    private Status status = Status.OK;
    private int bits;
    private long version;
    private long previous;
    private boolean makesVersion;
    private byte @Nullable [] result;

    ModelCache(Clock clock) {
        this.clock = clock;
    }

    /** The number of the request checked last. */
    long now() {
        return now;
    }

    /** Call after every change of the clock. */
    void clockMoved() {
        objects.forEach((key, object) -> {
            if (object.isOver(clock.wallMs() - ExpirySweepAgent.GRACE_MS)) {
                maybeSwept.add(key);
            }
        });
        if (!maybeSwept.isEmpty()) {
            lastRemoval = now + 1;
        }
    }

    /** Whether the object may be swept, without any request that met its end. */
    boolean maybeSwept(String key) {
        return maybeSwept.contains(key);
    }

    /** Marks objects as swept. */
    void swept(Set<String> keys) {
        now++;
        keys.forEach(this::remove);
    }

    /** @param since for IF_ABSENT_SINCE: {@link #now} when the expected version was read */
    void check(String key, Request request, long since) {
        now++;
        bits = 0;
        version = 0;
        previous = 0;
        makesVersion = false;
        result = null;
        if (!maybeSwept.isEmpty()) {
            lastRemoval = now;
        }
        if (maybeSwept.contains(key) && !request.has(ResultBits.EXPIRED) && !request.has(ResultBits.EXISTED)) {
            remove(key);
        }
        ModelObject object = objects.get(key);
        if (object != null && object.isOver(clock.wallMs())) {
            bits |= ResultBits.EXPIRED;
            result = object.value();
            remove(key);
            object = null;
        }
        switch (request.operation()) {
            case GET -> get(key, object, request);
            case PUT -> put(key, object, request, since);
            case DELETE -> delete(key, object, request, since);
            case TOUCH -> touch(key, object, request);
            default -> throw new AssertionError();
        }
        compare(key, request);
        if (makesVersion && status == Status.OK && request.operation() == Operation.PUT && objects.containsKey(key)) {
            final ModelObject stored = objects.get(key);
            objects.put(key, new ModelObject(stored.value(), request.version(), stored.expiryMs()));
        }
    }

    private void compare(String key, Request request) {
        final String what = now + ": " + request.operation() + " " + request.condition() + " of " + key;
        assertThat(request.status()).as(what).isEqualTo(status);
        assertThat(request.bits()).as("bits of %s", what).isEqualTo(bits);
        assertThat(request.previousVersion()).as("previous of %s", what).isEqualTo(previous);
        if (makesVersion) {
            assertThat(request.version()).as("version of %s", what).isGreaterThan(lastVersion(request.shard()));
            lastVersion.put(request.shard(), request.version());
        } else if (version >= 0) {
            assertThat(request.version()).as("version of %s", what).isEqualTo(version);
        }
        assertThat(request.resultBytes()).as("result of %s", what).isEqualTo(request.needsValue() ? result : null);
    }

    private long lastVersion(int shard) {
        return lastVersion.getOrDefault(shard, 0L);
    }

    private void remove(String key) {
        objects.remove(key);
        maybeSwept.remove(key);
        lastChange.put(key, now);
        lastRemoval = now;
    }

    void clear() {
        now++;
        objects.keySet().forEach(key -> lastChange.put(key, now));
        lastRemoval = now;
        objects.clear();
        maybeSwept.clear();
    }

    /** Earlier removals may be forgotten. */
    void reopened() {
        lastRemoval = ++now;
    }

    private void get(String key, @Nullable ModelObject object, Request request) {
        if (object == null) {
            status = Status.NOT_FOUND;
            version = -1; // a token, checked by its effect
        } else {
            meet(key, object, request, Status.OK);
        }
    }

    private void meet(String key, ModelObject object, Request request, Status outcome) {
        status = outcome;
        bits |= ResultBits.EXISTED;
        version = object.version();
        result = object.value();
        if (request.accessTtlMs() != Ttl.UNCHANGED) {
            bits |= ResultBits.TOUCHED;
            if (request.accessTtlMs() == Ttl.IMMEDIATE) {
                remove(key);
            } else {
                objects.put(key, object.expiringAt(expiry(request.accessTtlMs(), object)));
                maybeSwept.remove(key);
            }
        }
    }

    private long expiry(long ttlMs, @Nullable ModelObject object) {
        if (ttlMs == Ttl.UNCHANGED) {
            return object == null ? Long.MAX_VALUE : object.expiryMs();
        }
        return ttlMs == Ttl.ETERNAL ? Long.MAX_VALUE : clock.wallMs() + ttlMs;
    }

    private Status refusal(@Nullable ModelObject object, String key, Request request, long since) {
        final boolean failedSince = lastChange.getOrDefault(key, 0L) > since;
        return switch (request.condition()) {
            case ALWAYS -> Status.OK;
            case IF_ABSENT -> object == null ? Status.OK : Status.CONDITION_FAILED;
            case IF_PRESENT -> object == null ? Status.NOT_FOUND : Status.OK;
            case IF_VERSION ->
                object == null
                        ? Status.NOT_FOUND
                        : object.version() == request.expectedVersion() ? Status.OK : Status.CONDITION_FAILED;
            case IF_ABSENT_SINCE -> {
                if (object != null || failedSince) {
                    yield Status.CONDITION_FAILED;
                }
                // It may fail if any key was removed since.
                yield lastRemoval > since ? request.status() : Status.OK;
            }
        };
    }

    private void put(String key, @Nullable ModelObject object, Request request, long since) {
        final Status refused = refusal(object, key, request, since);
        if (refused != Status.OK) {
            status = refused;
            if (object != null) {
                meet(key, object, request, refused);
            }
            return;
        }
        status = Status.OK;
        if (object != null) {
            bits |= ResultBits.EXISTED;
            result = object.value();
            previous = object.version();
        }
        final long ttlMs = object == null ? request.createTtlMs() : request.updateTtlMs();
        if (ttlMs == Ttl.IMMEDIATE) {
            bits |= ResultBits.BORN_EXPIRED;
            makesVersion = object != null;
            if (object != null) {
                remove(key);
            }
            return;
        }
        makesVersion = true;
        bits |= object == null ? ResultBits.CREATED : ResultBits.UPDATED;
        final byte[] value = java.util.Arrays.copyOfRange(
                request.value(), request.valueOffset(), request.valueOffset() + request.valueLength());
        objects.put(key, new ModelObject(value, 0, expiry(ttlMs, object)));
        maybeSwept.remove(key);
        lastChange.put(key, now);
    }

    private void delete(String key, @Nullable ModelObject object, Request request, long since) {
        if (object == null) {
            status = Status.NOT_FOUND;
            return;
        }
        final Status refused = refusal(object, key, request, since);
        if (refused == Status.OK) {
            status = Status.OK;
            bits |= ResultBits.EXISTED | ResultBits.REMOVED;
            result = object.value();
            previous = object.version();
            makesVersion = true;
            remove(key);
        } else {
            meet(key, object, request, refused);
        }
    }

    private void touch(String key, @Nullable ModelObject object, Request request) {
        if (object == null) {
            status = Status.NOT_FOUND;
        } else if (object.version() != request.expectedVersion()) {
            status = Status.CONDITION_FAILED;
            bits |= ResultBits.EXISTED;
            version = object.version();
        } else {
            meet(key, object, request, Status.OK);
        }
    }

    /** A version of that key's object, or one that it never had. */
    long someVersion(String key, boolean right) {
        final ModelObject object = objects.get(key);
        return object == null || !right ? 12345 : object.version();
    }

    static boolean needsToken(Condition condition) {
        return condition == Condition.IF_ABSENT_SINCE;
    }
}
