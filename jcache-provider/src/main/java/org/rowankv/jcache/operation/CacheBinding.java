package org.rowankv.jcache.operation;

import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import javax.cache.CacheException;
import org.jspecify.annotations.Nullable;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.ScanCursor;
import org.rowankv.driver.api.RowanException;
import org.rowankv.jcache.codec.ByteSink;
import org.rowankv.jcache.codec.Codec;
import org.rowankv.jcache.event.EntryDecoder;
import org.rowankv.jcache.expiry.ExpiryEvaluator;
import org.rowankv.jcache.integration.LoaderCalls;
import org.rowankv.jcache.integration.WriterCalls;
import org.rowankv.jcache.management.Statistics;
import org.rowankv.jcache.near.NearCache;
import org.rowankv.jcache.store.SharedCacheState;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Binding of a manager's open cache to the store: the parts that its operations share, and the only path of their
 * requests. {@link #execute} also delivers the events. Thread-safe.
 */
public final class CacheBinding<K, V> implements EntryDecoder<K, V> {
    private static final Logger LOG = LoggerFactory.getLogger(CacheBinding.class);

    private final String name;
    private final int cacheId;
    private final Class<K> keyType;
    private final Class<V> valueType;
    private final RowanClient client;
    private final Codec codec;
    private final ExpiryEvaluator expiry;
    private final Statistics statistics;
    private final SharedCacheState sharedState;

    private final @Nullable LoaderCalls<K, V> loads;
    private final @Nullable WriterCalls<K, V> writes;
    private final @Nullable NearCache<V> near;
    /** Bytes of the longest encoded value that is stored. */
    private final int maxValue;

    private final RequestBufferPool buffers;
    private final Set<String> warnedKeyClasses = ConcurrentHashMap.newKeySet();
    private volatile Runnable onDestroyed = () -> {};

    /** Parts of a binding. */
    public record Parts<K, V>(
            String name,
            int cacheId,
            Class<K> keyType,
            Class<V> valueType,
            RowanClient client,
            Codec codec,
            ExpiryEvaluator expiry,
            Statistics statistics,
            SharedCacheState sharedState,
            @Nullable LoaderCalls<K, V> loads,
            @Nullable WriterCalls<K, V> writes,
            @Nullable NearCache<V> near,
            int maxValue) {}

    public CacheBinding(Parts<K, V> parts) {
        this.name = parts.name();
        this.cacheId = parts.cacheId();
        this.keyType = parts.keyType();
        this.valueType = parts.valueType();
        this.client = parts.client();
        this.codec = parts.codec();
        this.expiry = parts.expiry();
        this.statistics = parts.statistics();
        this.sharedState = parts.sharedState();
        this.loads = parts.loads();
        this.writes = parts.writes();
        this.near = parts.near();
        this.maxValue = parts.maxValue();
        this.buffers = new RequestBufferPool(cacheId, Runtime.getRuntime().availableProcessors());
    }

    /** Sets the action for an operation that finds the cache destroyed. */
    public void onDestroyed(Runnable action) {
        onDestroyed = action;
    }

    public String name() {
        return name;
    }

    public ExpiryEvaluator expiry() {
        return expiry;
    }

    public Statistics statistics() {
        return statistics;
    }

    public SharedCacheState sharedState() {
        return sharedState;
    }

    /** The loader of a read-through cache, or null. */
    @Nullable
    LoaderCalls<K, V> loads() {
        return loads;
    }

    /** The writer of a write-through cache, or null. */
    @Nullable
    public WriterCalls<K, V> writes() {
        return writes;
    }

    /** The decoded values that are kept in this JVM, or null. */
    @Nullable
    NearCache<V> near() {
        return near;
    }

    /** Releases the values that are kept in this JVM. */
    public void forgetNear() {
        if (near != null) {
            near.clear();
        }
    }

    Class<V> valueType() {
        return valueType;
    }

    // --- request buffers ---

    RequestBuffer acquire() {
        return buffers.acquire();
    }

    /** A request buffer that contains the key. */
    RequestBuffer acquireFor(K key) {
        final RequestBuffer buffer = buffers.acquire();
        boolean encoded = false;
        try {
            encodeKey(key, buffer.key());
            encoded = true;
        } finally {
            if (!encoded) {
                buffer.close();
            }
        }
        return buffer;
    }

    // --- objects and bytes ---

    void encodeKey(K key, ByteSink sink) {
        checkKey(key);
        sink.reset();
        codec.encodeKey(key, sink);
        if (!Codec.isCanonical(sink.bytes(), 0)
                && warnedKeyClasses.add(key.getClass().getName())) {
            LOG.warn(
                    "ROWAN-1102 Keys are compared by their serialized bytes, not by equals():"
                            + " equal keys with different bytes are different entries class={} cache={}",
                    key.getClass(),
                    name);
        }
    }

    void encodeValue(V value, ByteSink sink) {
        checkValue(value);
        sink.reset();
        codec.encode(value, sink);
        if (sink.length() > maxValue) {
            throw new CacheException("a value of the cache " + name + " has " + sink.length()
                    + " bytes when it is encoded, and max-value is " + maxValue + ": nothing was stored");
        }
    }

    /** Throws NullPointerException for null, ClassCastException for another type than configured. */
    public void checkKey(@Nullable Object key) {
        Objects.requireNonNull(key, "key");
        if (!keyType.isInstance(key)) {
            throw wrongType("key", keyType, key);
        }
    }

    /** As {@link #checkKey}. */
    void checkValue(@Nullable Object value) {
        Objects.requireNonNull(value, "value");
        if (!valueType.isInstance(value)) {
            throw wrongType("value", valueType, value);
        }
    }

    private ClassCastException wrongType(String what, Class<?> type, Object found) {
        return new ClassCastException("a " + what + " of the cache " + name + " is a " + type.getName() + ", not a "
                + found.getClass().getName());
    }

    /** Decodes the value in the response: a new copy. */
    V valueOf(Request request) {
        return valueType.cast(codec.decode(request.result(), 0, request.resultLength()));
    }

    /** Decodes the key in the buffer: a new copy. */
    K keyOf(RequestBuffer buffer) {
        return codec.decodeKey(buffer.key().bytes(), 0, buffer.key().length(), keyType);
    }

    /** Decodes the value to write in the buffer: a new copy. */
    V valueOf(RequestBuffer buffer) {
        return valueType.cast(
                codec.decode(buffer.value().bytes(), 0, buffer.value().length()));
    }

    /** A copy of the key, as the store encodes it. */
    public K copyOf(K key) {
        try (RequestBuffer buffer = acquireFor(key)) {
            return keyOf(buffer);
        }
    }

    @Override
    public K key(byte[] bytes) {
        return codec.decodeKey(bytes, 0, bytes.length, keyType);
    }

    @Override
    public @Nullable V valueInParts(int shard, byte[] list) {
        final byte[] bytes;
        try {
            bytes = client.partedValues().read(cacheId, shard, list);
        } catch (RowanException e) {
            throw ExceptionMapping.of(e);
        }
        return bytes == null ? null : value(bytes);
    }

    @Override
    public V value(byte[] bytes) {
        return valueType.cast(codec.decode(bytes, 0, bytes.length));
    }

    // --- the store ---

    /**
     * Executes a request and delivers its events. Returns for outcomes that are results; throws the JSR's exception for
     * all others. Also throws the exceptions of synchronous listeners, after the request has taken effect.
     */
    void execute(Request request) {
        send(request);
        checkOutcome(request);
    }

    private void send(Request request) {
        try {
            sharedState.execute(client, request);
        } catch (RowanException e) { // a store that has stopped answers no request
            throw ExceptionMapping.of(e);
        }
    }

    /** Throws what {@link #execute} throws for the outcome. */
    void checkOutcome(Request request) {
        final Status status = request.status();
        if (status != Status.OK && status != Status.NOT_FOUND && status != Status.CONDITION_FAILED) {
            fail(request);
        }
    }

    /** Whether {@link #executeAll} is worth its allocations. */
    boolean isRemote() {
        return client.isRemote();
    }

    /**
     * Executes unordered requests of one operation and delivers their events. Throws for no outcome: see {@link
     * #checkOutcome}.
     */
    void executeAll(List<Request> requests) {
        try {
            sharedState.executeAll(client, requests);
        } catch (RowanException e) {
            throw ExceptionMapping.of(e);
        }
    }

    private void fail(Request request) {
        if (request.status() == Status.UNKNOWN_CACHE) {
            sharedState.speculativeValues().clear(); // the application may hold the closed cache for long
            onDestroyed.run();
            throw new IllegalStateException("the cache " + name + " was destroyed");
        }
        try {
            RowanClient.checkOutcome(request);
        } catch (RowanException e) {
            throw ExceptionMapping.of(e);
        }
    }

    /**
     * Sets the remaining lifetime of an entry of that version. No effect if the version has changed, or if the store is
     * full: an access must not fail for lack of space.
     */
    void touch(RequestBuffer buffer, long version, long ttlMs) {
        final Request request = buffer.touch(version, ttlMs);
        send(request);
        if (request.status() != Status.FULL) {
            checkOutcome(request);
        }
    }

    ScanCursor scan(boolean withValues) {
        return client.scan(cacheId, withValues);
    }

    /** Entries in the store now. */
    public long entryCount() {
        try {
            return client.catalogue().objects(cacheId);
        } catch (RowanException e) {
            throw ExceptionMapping.of(e);
        }
    }

    /** Bytes that they occupy in the log of one replica. */
    public long entryBytes() {
        try {
            return client.catalogue().bytes(cacheId);
        } catch (RowanException e) {
            throw ExceptionMapping.of(e);
        }
    }

    /** Removes all objects of the cache at once, without events. */
    public void clear() {
        try {
            sharedState.clear(client, cacheId);
        } catch (RowanException e) {
            throw ExceptionMapping.of(e);
        }
    }
}
