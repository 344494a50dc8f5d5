package org.rowankv.jcache.operation;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.rowankv.driver.api.ValidatedValue;
import org.rowankv.jcache.expiry.ExpiryEvaluator;
import org.rowankv.jcache.integration.LoaderCalls;
import org.rowankv.jcache.near.NearCache;
import org.rowankv.protocol.Condition;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.Ttl;

/**
 * Read operations. A read is one request, which carries a constant access lifetime; with a variable one a touch follows
 * a hit. A value loaded after a miss is stored only if the key was neither written nor removed since. Thread-safe.
 */
public final class Reads<K, V> {
    /** Limit of requests per batch; more would cost memory without saving time. */
    private static final int MAX_BATCH = 1_024;

    private final CacheBinding<K, V> binding;
    private final ExpiryEvaluator expiry;
    private final long accessMs;
    private final boolean touchesOnAccess;
    /** Null also where an access has to reach the store. */
    private final @Nullable NearCache<V> near;

    public Reads(CacheBinding<K, V> binding) {
        this.binding = binding;
        this.expiry = binding.expiry();
        this.touchesOnAccess = !expiry.isConstant();
        this.accessMs = touchesOnAccess ? Ttl.UNCHANGED : expiry.accessMs();
        this.near = binding.near();
    }

    @Nullable
    public V get(K key) {
        final long startNs = binding.statistics().start();
        final V kept = near == null ? null : keptByKey(near, key);
        if (kept != null) {
            binding.statistics().got(true, startNs);
            return kept;
        }
        try (RequestBuffer buffer = binding.acquireFor(key)) {
            final V value = near == null ? read(buffer) : read(near, key, buffer);
            if (value != null || binding.loads() == null) {
                binding.statistics().got(value != null, startNs);
                return value;
            }
            return loadMissed(binding.loads(), buffer, startNs);
        }
    }

    /** What is kept of a key that needs no encoding for that. Apart, so that reads without a near cache stay small. */
    private @Nullable V keptByKey(NearCache<V> near, K key) {
        return NearCache.isPlain(key) ? current(near.find(key)) : null;
    }

    /** As {@link #read(RequestBuffer)}, or from the near cache; the buffer contains the key. */
    private @Nullable V read(NearCache<V> near, K key, RequestBuffer buffer) {
        final Object nearKey = NearCache.isPlain(key) ? key : buffer.nearKey();
        final ValidatedValue<V> kept = near.find(nearKey);
        final V current = current(kept);
        if (current != null) {
            return current;
        }
        final Request request = buffer.get().requestLocation(true);
        binding.execute(request);
        if (request.status() != Status.OK) {
            near.forget(nearKey, kept);
            return null;
        }
        // After a move by the cleaner it is the same object, elsewhere.
        final V same = kept == null ? null : kept.ofVersion(request.version());
        final V value = same != null ? same : binding.valueOf(request);
        near.keep(nearKey, request, value, kept);
        return value;
    }

    /** What is kept, if it is current, and counts it then. */
    private @Nullable V current(@Nullable ValidatedValue<V> kept) {
        final V current = kept == null ? null : kept.ifCurrent();
        if (current != null) {
            binding.statistics().nearHit();
        }
        return current;
    }

    /** The value, accessed; or null, and then the request's version is valid for IF_ABSENT_SINCE. */
    private @Nullable V read(RequestBuffer buffer) {
        final Request request = buffer.get().accessTtl(accessMs);
        binding.execute(request);
        if (request.status() != Status.OK) {
            return null;
        }
        final V value = binding.valueOf(request);
        if (touchesOnAccess) {
            accessed(buffer, request.version());
        }
        return value;
    }

    /** Touches an entry of that version after a read without an access lifetime. */
    void accessed(RequestBuffer buffer, long version) {
        final long ttlMs = expiry.accessMs();
        if (ttlMs != Ttl.UNCHANGED) {
            binding.touch(buffer, version, ttlMs);
        }
    }

    /** The loader gets its own copy of the key, and its value is copied. */
    private @Nullable V loadMissed(LoaderCalls<K, V> loads, RequestBuffer buffer, long startNs) {
        final long missVersion = buffer.request().version();
        final K key = binding.keyOf(buffer);
        final V loaded = loads.load(key);
        binding.statistics().got(false, startNs);
        return loaded == null ? null : storeLoaded(key, loaded, missVersion, buffer);
    }

    /** Stores a value loaded after a miss; returns the cache's value, or a copy of the loaded one. */
    private V storeLoaded(K key, V loaded, long missVersion, RequestBuffer buffer) {
        binding.encodeKey(key, buffer.key());
        if (store(buffer, loaded, missVersion)) {
            return binding.valueOf(buffer);
        }
        final V present = read(buffer);
        return present != null ? present : binding.valueOf(buffer);
    }

    private boolean store(RequestBuffer buffer, V loaded, long missVersion) {
        binding.encodeValue(loaded, buffer.value());
        final Request request =
                buffer.put().when(Condition.IF_ABSENT_SINCE, missVersion).ttl(expiry.createMs(), Ttl.UNCHANGED);
        binding.execute(request);
        return request.status() == Status.OK;
    }

    public Map<K, V> getAll(Set<? extends K> keys) {
        for (K key : keys) {
            Objects.requireNonNull(key, "one of the keys");
        }
        final long startNs = binding.statistics().start();
        final Map<K, V> values = new HashMap<>();
        final Map<K, Long> missed = new HashMap<>();
        final List<K> toLoad = new ArrayList<>();
        final LoaderCalls<K, V> loads = binding.loads();
        try (RequestBuffer buffer = binding.acquire()) {
            if (binding.isRemote() && !touchesOnAccess) {
                readBatched(keys, buffer, values, missed);
            } else {
                for (K key : keys) {
                    binding.encodeKey(key, buffer.key());
                    final V value = near == null ? read(buffer) : read(near, key, buffer);
                    if (value != null) {
                        values.put(key, value);
                    } else {
                        missed.put(key, buffer.request().version());
                    }
                }
            }
            if (loads != null) {
                // Separate copies for the loader.
                for (K key : missed.keySet()) {
                    binding.encodeKey(key, buffer.key());
                    toLoad.add(binding.keyOf(buffer));
                }
            }
            binding.statistics().got(values.size(), missed.size(), startNs);
            if (loads != null && !missed.isEmpty()) {
                loads.loadAll(toLoad).forEach((key, loaded) -> {
                    final Long missVersion = missed.get(key);
                    if (loaded != null && missVersion != null) {
                        values.put(key, storeLoaded(key, loaded, missVersion, buffer));
                    }
                });
            }
        }
        return values;
    }

    private void readBatched(Set<? extends K> keys, RequestBuffer buffer, Map<K, V> values, Map<K, Long> missed) {
        final List<K> batchKeys = new ArrayList<>();
        final List<Request> requests = new ArrayList<>();
        for (Iterator<? extends K> each = keys.iterator(); each.hasNext(); ) {
            final K next = each.next();
            binding.encodeKey(next, buffer.key());
            batchKeys.add(next);
            requests.add(buffer.separateGet().accessTtl(accessMs));
            if (requests.size() < MAX_BATCH && each.hasNext()) {
                continue;
            }
            binding.executeAll(requests);
            for (int i = 0; i < requests.size(); i++) {
                final Request request = requests.get(i);
                binding.checkOutcome(request);
                if (request.status() == Status.OK) {
                    values.put(batchKeys.get(i), binding.valueOf(request));
                } else {
                    missed.put(batchKeys.get(i), request.version());
                }
            }
            batchKeys.clear();
            requests.clear();
        }
    }

    public boolean containsKey(K key) {
        try (RequestBuffer buffer = binding.acquireFor(key)) {
            return isPresent(buffer);
        }
    }

    /** Whether the entry exists; the request has its version, or one valid for IF_ABSENT_SINCE. No access. */
    boolean isPresent(RequestBuffer buffer) {
        final Request request = buffer.get().requestValue(false);
        binding.execute(request);
        return request.status() == Status.OK;
    }

    public Versioned<V> getVersioned(K key) {
        final long startNs = binding.statistics().start();
        try (RequestBuffer buffer = binding.acquireFor(key)) {
            final Request request = buffer.get().accessTtl(accessMs);
            binding.execute(request);
            final boolean hit = request.status() == Status.OK;
            final Versioned<V> read = new Versioned<>(hit ? binding.valueOf(request) : null, request.version());
            if (hit && touchesOnAccess) {
                accessed(buffer, read.version());
            }
            binding.statistics().got(hit, startNs);
            return read;
        }
    }
}
