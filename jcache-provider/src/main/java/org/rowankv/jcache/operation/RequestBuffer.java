package org.rowankv.jcache.operation;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.rowankv.jcache.codec.ByteSink;
import org.rowankv.jcache.near.NearKey;
import org.rowankv.protocol.Request;
import org.rowankv.runtime.concurrent.SlotPool;

/**
 * Reusable buffers of one operation: a request, and the bytes of a key and a value. Used by the thread that acquired it
 * from {@link RequestBufferPool}.
 */
final class RequestBuffer implements AutoCloseable {
    private static final int KEY_BYTES = 64;
    private static final int VALUE_BYTES = 256;
    /** Larger arrays are released after use. */
    private static final int KEPT_BYTES = 1 << 20;

    private final int cacheId;
    /** Null: discarded after use. */
    private final @Nullable SlotPool pool;

    private final int slot;
    private final ByteSink key = new ByteSink(KEY_BYTES);
    private final ByteSink value = new ByteSink(VALUE_BYTES);
    private final NearKey nearKey = new NearKey();
    private Request request = new Request();

    /**
     * @param pool the pool it returns to, or null
     * @param slot its slot there
     */
    RequestBuffer(int cacheId, @Nullable SlotPool pool, int slot) {
        this.cacheId = cacheId;
        this.pool = pool;
        this.slot = slot;
    }

    ByteSink key() {
        return key;
    }

    ByteSink value() {
        return value;
    }

    /** The bytes of the key, valid until the key changes. */
    NearKey nearKey() {
        return nearKey.set(key);
    }

    /** The request of the latest of the following calls. */
    Request request() {
        return request;
    }

    Request get() {
        return request.get(cacheId, key.bytes(), 0, key.length());
    }

    Request put() {
        return request.put(cacheId, key.bytes(), 0, key.length(), value.bytes(), 0, value.length());
    }

    /** A separate request with its own bytes, equal to {@link #get}. */
    Request separateGet() {
        final byte[] bytes = Arrays.copyOf(key.bytes(), key.length());
        return new Request().get(cacheId, bytes, 0, bytes.length);
    }

    /** A separate request with its own bytes, equal to {@link #put}. */
    Request separatePut() {
        final byte[] keyBytes = Arrays.copyOf(key.bytes(), key.length());
        final byte[] valueBytes = Arrays.copyOf(value.bytes(), value.length());
        return new Request().put(cacheId, keyBytes, 0, keyBytes.length, valueBytes, 0, valueBytes.length);
    }

    Request delete() {
        return request.delete(cacheId, key.bytes(), 0, key.length());
    }

    Request touch(long version, long ttlMs) {
        return request.touch(cacheId, key.bytes(), 0, key.length(), version, ttlMs);
    }

    /** Returns the buffers to the pool; the caller must not use them afterwards. */
    @Override
    public void close() {
        key.shrinkAbove(KEPT_BYTES, KEY_BYTES);
        value.shrinkAbove(KEPT_BYTES, VALUE_BYTES);
        if (request.result().length > KEPT_BYTES) {
            request = new Request();
        }
        if (pool != null) {
            pool.release(slot);
        }
    }
}
