package org.rowankv.sim.workload;

import org.rowankv.check.history.Event;
import org.rowankv.check.history.KeyAction;
import org.rowankv.protocol.Condition;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Ttl;

/** An operation that a simulated client has issued, with its key and cache. Owned by one client, which reuses it. */
final class IssuedRequest {
    CacheLife cache;
    /** Index of the key in its cache. */
    int key;

    KeyAction action = KeyAction.GET;
    Condition condition = Condition.ALWAYS;
    LifetimeKind lifetime = LifetimeKind.NONE;
    /** The id of the value to store. */
    long written;

    long expectedVersion;
    /** Of a touch: the value with that version. */
    long touchedValue;

    boolean needsOld;
    long createMs;
    long updateMs;
    long accessMs;
    long invokedNs;

    IssuedRequest(CacheLife cache) {
        this.cache = cache;
    }

    void begin(CacheLife newCache, int newKey, KeyAction newAction) {
        cache = newCache;
        key = newKey;
        action = newAction;
        condition = conditionOf(newAction);
        lifetime = LifetimeKind.NONE;
        written = Event.ABSENT;
        expectedVersion = 0;
        touchedValue = Event.ABSENT;
        needsOld = false;
        createMs = Ttl.ETERNAL;
        updateMs = Ttl.ETERNAL;
        accessMs = Ttl.UNCHANGED;
    }

    private static Condition conditionOf(KeyAction action) {
        return switch (action) {
            case PUT_IF_ABSENT -> Condition.IF_ABSENT;
            case PUT_IF_ABSENT_SINCE -> Condition.IF_ABSENT_SINCE;
            case REPLACE -> Condition.IF_PRESENT;
            case REPLACE_IF_VERSION, REMOVE_IF_VERSION, TOUCH -> Condition.IF_VERSION;
            case GET, PUT, GET_AND_PUT, REMOVE, GET_AND_REMOVE, CLEAR, DESTROY, EXPIRY -> Condition.ALWAYS;
        };
    }

    int history() {
        return cache.history(key);
    }

    /** Whether it changes the lifetime of whatever object it finds, in each of its attempts. */
    boolean isAccess() {
        return accessMs != Ttl.UNCHANGED && action != KeyAction.TOUCH;
    }

    /** Whether it stores nothing where an object exists, or where none does. */
    boolean mayEndAtOnce() {
        return createMs == Ttl.IMMEDIATE || updateMs == Ttl.IMMEDIATE;
    }

    Request phrase(Request request, SimValues values) {
        final int id = cache.id();
        final byte[] bytes = CacheLife.keyBytes(key);
        switch (action) {
            case GET -> request.get(id, bytes, 0, bytes.length);
            case PUT, GET_AND_PUT, PUT_IF_ABSENT, PUT_IF_ABSENT_SINCE, REPLACE, REPLACE_IF_VERSION -> {
                final byte[] value = values.of(written);
                request.put(id, bytes, 0, bytes.length, value, 0, value.length).ttl(createMs, updateMs);
            }
            case REMOVE, GET_AND_REMOVE, REMOVE_IF_VERSION -> request.delete(id, bytes, 0, bytes.length);
            case TOUCH -> request.touch(id, bytes, 0, bytes.length, expectedVersion, accessMs);
            case CLEAR -> request.clear(id, cache.shardOf(key));
            case DESTROY, EXPIRY -> throw new AssertionError("no client performs that operation");
        }
        return request.when(condition, expectedVersion).accessTtl(accessMs).requestValue(needsOld);
    }

    @Override
    public String toString() {
        return action.label() + " key " + key + " of cache " + cache.id() + " #" + Long.toHexString(written)
                + (condition == Condition.ALWAYS ? "" : " " + condition)
                + (lifetime == LifetimeKind.NONE ? "" : " lives " + ms(createMs) + "/" + ms(updateMs))
                + (accessMs == Ttl.UNCHANGED ? "" : " touches " + ms(accessMs));
    }

    private static String ms(long lifetimeMs) {
        return lifetimeMs == Ttl.ETERNAL ? "ever" : lifetimeMs == Ttl.UNCHANGED ? "as before" : lifetimeMs + " ms";
    }
}
