package org.rowankv.jcache.operation;

import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.ScanCursor;
import org.rowankv.driver.api.RowanException;
import org.rowankv.jcache.codec.ByteSink;
import org.rowankv.jcache.codec.Codec;
import org.rowankv.jcache.event.EntryDecoder;
import org.rowankv.jcache.event.EventHub;
import org.rowankv.jcache.expiry.ExpiryEvaluator;
import org.rowankv.jcache.integration.LoaderCalls;
import org.rowankv.jcache.integration.WriterCalls;
import org.rowankv.jcache.management.Statistics;
import org.rowankv.jcache.store.ProcessorRuns;
import org.rowankv.jcache.store.SharedCacheState;
import org.rowankv.jcache.store.SpeculativeValues;
import org.rowankv.protocol.Operation;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One manager's opening of one cache: what all its operations use, and the one way by which they reach the store. Every
 * request goes through {@link #execute}, which tells the listeners what it did. Thread-safe.
 */
public final class CacheBinding<K, V> implements EntryDecoder<K, V> {
    private static final Logger LOG = LoggerFactory.getLogger(CacheBinding.class);

    private final String name;
    private final int cacheId;
    private final Class<K> keyType;
    private final Class<V> valueType;
    private final RowanClient client;
    private final Codec codec;
    private final ExpiryEvaluator lifetimes;
    private final Statistics statistics;
    private final SharedCacheState rendezvous;
    // --- of that ---
    private final EventHub events;
    private final ProcessorRuns runs;
    private final SpeculativeValues recent;

    private final @Nullable LoaderCalls<K, V> loads;
    private final @Nullable WriterCalls<K, V> writes;
    private final RequestBufferPool scratches;
    private final Set<String> warnedKeyClasses = ConcurrentHashMap.newKeySet();
    private volatile Runnable whenDestroyed = () -> {};

    /** What an opening is made of. */
    public record Parts<K, V>(
            String name,
            int cacheId,
            Class<K> keyType,
            Class<V> valueType,
            RowanClient client,
            Codec codec,
            ExpiryEvaluator lifetimes,
            Statistics statistics,
            SharedCacheState rendezvous,
            @Nullable LoaderCalls<K, V> loads,
            @Nullable WriterCalls<K, V> writes) {}

    public CacheBinding(Parts<K, V> parts) {
        this.name = parts.name();
        this.cacheId = parts.cacheId();
        this.keyType = parts.keyType();
        this.valueType = parts.valueType();
        this.client = parts.client();
        this.codec = parts.codec();
        this.lifetimes = parts.lifetimes();
        this.statistics = parts.statistics();
        this.rendezvous = parts.rendezvous();
        this.events = rendezvous.events();
        this.runs = rendezvous.runs();
        this.recent = rendezvous.recent();
        this.loads = parts.loads();
        this.writes = parts.writes();
        this.scratches = new RequestBufferPool(cacheId, Runtime.getRuntime().availableProcessors());
    }

    /** What to do when an operation finds that somebody destroyed the cache. */
    public void whenDestroyed(Runnable action) {
        whenDestroyed = action;
    }

    public String name() {
        return name;
    }

    public ExpiryEvaluator lifetimes() {
        return lifetimes;
    }

    public Statistics statistics() {
        return statistics;
    }

    public SharedCacheState rendezvous() {
        return rendezvous;
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

    Class<V> valueType() {
        return valueType;
    }

    // --- scratches ---

    RequestBuffer borrow() {
        return scratches.borrow();
    }

    /** A scratch that holds the key. */
    RequestBuffer borrowFor(K key) {
        final RequestBuffer scratch = scratches.borrow();
        boolean encoded = false;
        try {
            encodeKey(key, scratch.key());
            encoded = true;
        } finally {
            if (!encoded) {
                scratch.close();
            }
        }
        return scratch;
    }

    // --- objects and bytes ---

    void encodeKey(K key, ByteSink sink) {
        checkKey(key);
        sink.reset();
        codec.encode(key, sink);
        if (!Codec.isCanonical(sink.bytes(), 0)
                && warnedKeyClasses.add(key.getClass().getName())) {
            LOG.warn(
                    "keys of {} in the cache {} are told apart by their serialized bytes, not by equals():"
                            + " two equal keys with different bytes are two entries",
                    key.getClass(),
                    name);
        }
    }

    void encodeValue(V value, ByteSink sink) {
        checkValue(value);
        sink.reset();
        codec.encode(value, sink);
    }

    /** Null is a NullPointerException, another type than configured a ClassCastException. */
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

    /** The value in the request's answer: a copy of its own. */
    V valueOf(Request request) {
        return valueType.cast(codec.decode(request.result(), 0, request.resultLength()));
    }

    /** The key that the scratch holds: a copy of its own. */
    K keyOf(RequestBuffer scratch) {
        return keyType.cast(codec.decode(scratch.key().bytes(), 0, scratch.key().length()));
    }

    /** The value that the scratch holds to be written: a copy of its own. */
    V valueOf(RequestBuffer scratch) {
        return valueType.cast(
                codec.decode(scratch.value().bytes(), 0, scratch.value().length()));
    }

    /** A copy of the key, as the store will know it. */
    public K copyOf(K key) {
        try (RequestBuffer scratch = borrowFor(key)) {
            return keyOf(scratch);
        }
    }

    @Override
    public K key(byte[] bytes) {
        return keyType.cast(codec.decode(bytes, 0, bytes.length));
    }

    @Override
    public V value(byte[] bytes) {
        return valueType.cast(codec.decode(bytes, 0, bytes.length));
    }

    // --- the store ---

    /**
     * Carries out a request and tells the listeners. Returns for the outcomes that are results; for all others throws what
     * the JSR names. What a synchronous listener throws is thrown too, the request being carried out all the same.
     */
    void execute(Request request) {
        try {
            send(request);
        } finally {
            noteChange(request);
        }
        checkOutcome(request);
    }

    private void send(Request request) {
        if (events.isInterestedIn(request.operation())) {
            events.execute(request);
        } else {
            client.execute(request);
        }
    }

    /** What {@link #execute} throws for the outcome. */
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
     * Carries out requests of one operation, none ordered against another, and tells the listeners. Throws for no outcome: see
     * {@link #checkOutcome}.
     */
    void executeAll(List<Request> requests) {
        if (requests.isEmpty()) {
            return;
        }
        try {
            if (events.isInterestedIn(requests.get(0).operation())) {
                requests.forEach(events::execute); // one after the other
            } else {
                client.executeAll(requests);
            }
        } finally {
            requests.forEach(this::noteChange);
        }
    }

    private void noteChange(Request request) {
        final boolean changes = request.operation() == Operation.PUT || request.operation() == Operation.DELETE;
        if (changes && request.status() == Status.OK) {
            runs.noteMutation(request);
            recent.changed(request);
        }
    }

    private void fail(Request request) {
        if (request.status() == Status.UNKNOWN_CACHE) {
            whenDestroyed.run();
            throw new IllegalStateException("the cache " + name + " was destroyed");
        }
        try {
            RowanClient.checkOutcome(request);
        } catch (RowanException e) {
            throw ExceptionMapping.of(e);
        }
    }

    /**
     * Gives an entry of that version a new remaining lifetime. Nothing happens if it has another version by now, or if the store is
     * full: an access does not fail for want of space.
     */
    void touch(RequestBuffer scratch, long version, long ttlMs) {
        final Request request = scratch.touch(version, ttlMs);
        send(request);
        if (request.status() != Status.FULL) {
            checkOutcome(request);
        }
    }

    ScanCursor scan(boolean withValues) {
        return client.scan(cacheId, withValues);
    }

    /** Removes all objects of the cache at once; no listener hears of it. */
    public void clear() {
        recent.forgetAll();
        try {
            client.clear(cacheId);
        } catch (RowanException e) {
            throw ExceptionMapping.of(e);
        }
    }
}
