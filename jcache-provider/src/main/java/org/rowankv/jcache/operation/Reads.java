package org.rowankv.jcache.operation;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.rowankv.jcache.expiry.ExpiryEvaluator;
import org.rowankv.jcache.integration.LoaderCalls;
import org.rowankv.protocol.Condition;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.Ttl;

/**
 * The operations that read. A read is one request, with the access lifetime in it when that is a constant; with an asking
 * policy a touch follows a hit. A value that a miss made the loader bring is stored only if the key was neither written nor
 * removed since the miss. Thread-safe.
 */
public final class Reads<K, V> {
    /** Requests that are sent at once: more would take memory and no less time. */
    private static final int TOGETHER = 1_024;

    private final CacheBinding<K, V> opening;
    private final ExpiryEvaluator lifetimes;
    private final long accessMs;
    private final boolean asksOnAccess;

    public Reads(CacheBinding<K, V> opening) {
        this.opening = opening;
        this.lifetimes = opening.lifetimes();
        this.asksOnAccess = !lifetimes.isConstant();
        this.accessMs = asksOnAccess ? Ttl.UNCHANGED : lifetimes.accessMs();
    }

    @Nullable
    public V get(K key) {
        final long startNs = opening.statistics().start();
        try (RequestBuffer scratch = opening.borrowFor(key)) {
            final V value = read(scratch);
            if (value != null || opening.loads() == null) {
                opening.statistics().got(value != null, startNs);
                return value;
            }
            return loadMissed(opening.loads(), scratch, startNs);
        }
    }

    /** The value, accessed; or null, and then the request's version is good for IF_ABSENT_SINCE. */
    private @Nullable V read(RequestBuffer scratch) {
        final Request request = scratch.get().accessTtl(accessMs);
        opening.execute(request);
        if (request.status() != Status.OK) {
            return null;
        }
        final V value = opening.valueOf(request);
        if (asksOnAccess) {
            accessed(scratch, request.version());
        }
        return value;
    }

    /** An entry of that version was read by a request without an access lifetime. */
    void accessed(RequestBuffer scratch, long version) {
        final long ttlMs = lifetimes.accessMs();
        if (ttlMs != Ttl.UNCHANGED) {
            opening.touch(scratch, version, ttlMs);
        }
    }

    /** The loader gets a key of its own, and keeps its value to itself: by value. */
    private @Nullable V loadMissed(LoaderCalls<K, V> loads, RequestBuffer scratch, long startNs) {
        final long missVersion = scratch.request().version();
        final K key = opening.keyOf(scratch);
        final V loaded = loads.load(key);
        opening.statistics().got(false, startNs);
        return loaded == null ? null : storeLoaded(key, loaded, missVersion, scratch);
    }

    /** Stores what was loaded after a miss; returns what the cache holds then, or a copy of what was loaded. */
    private V storeLoaded(K key, V loaded, long missVersion, RequestBuffer scratch) {
        opening.encodeKey(key, scratch.key());
        if (store(scratch, loaded, missVersion)) {
            return opening.valueOf(scratch);
        }
        final V present = read(scratch);
        return present != null ? present : opening.valueOf(scratch);
    }

    private boolean store(RequestBuffer scratch, V loaded, long missVersion) {
        opening.encodeValue(loaded, scratch.value());
        final Request request =
                scratch.put().when(Condition.IF_ABSENT_SINCE, missVersion).ttl(lifetimes.createMs(), Ttl.UNCHANGED);
        opening.execute(request);
        return request.status() == Status.OK;
    }

    public Map<K, V> getAll(Set<? extends K> keys) {
        for (K key : keys) {
            Objects.requireNonNull(key, "one of the keys");
        }
        final long startNs = opening.statistics().start();
        final Map<K, V> values = new HashMap<>();
        final Map<K, Long> missed = new HashMap<>();
        final List<K> toLoad = new ArrayList<>();
        final LoaderCalls<K, V> loads = opening.loads();
        try (RequestBuffer scratch = opening.borrow()) {
            if (opening.isRemote() && !asksOnAccess) {
                readTogether(keys, scratch, values, missed);
            } else {
                for (K key : keys) {
                    opening.encodeKey(key, scratch.key());
                    final V value = read(scratch);
                    if (value != null) {
                        values.put(key, value);
                    } else {
                        missed.put(key, scratch.request().version());
                    }
                }
            }
            if (loads != null) {
                // Keys of the loader's own.
                for (K key : missed.keySet()) {
                    opening.encodeKey(key, scratch.key());
                    toLoad.add(opening.keyOf(scratch));
                }
            }
            opening.statistics().got(values.size(), missed.size(), startNs);
            if (loads != null && !missed.isEmpty()) {
                loads.loadAll(toLoad).forEach((key, loaded) -> {
                    final Long missVersion = missed.get(key);
                    if (loaded != null && missVersion != null) {
                        values.put(key, storeLoaded(key, loaded, missVersion, scratch));
                    }
                });
            }
        }
        return values;
    }

    private void readTogether(Set<? extends K> keys, RequestBuffer scratch, Map<K, V> values, Map<K, Long> missed) {
        final List<K> asked = new ArrayList<>();
        final List<Request> requests = new ArrayList<>();
        for (Iterator<? extends K> each = keys.iterator(); each.hasNext(); ) {
            final K next = each.next();
            opening.encodeKey(next, scratch.key());
            asked.add(next);
            requests.add(scratch.separateGet().accessTtl(accessMs));
            if (requests.size() < TOGETHER && each.hasNext()) {
                continue;
            }
            opening.executeAll(requests);
            for (int i = 0; i < requests.size(); i++) {
                final Request request = requests.get(i);
                opening.checkOutcome(request);
                if (request.status() == Status.OK) {
                    values.put(asked.get(i), opening.valueOf(request));
                } else {
                    missed.put(asked.get(i), request.version());
                }
            }
            asked.clear();
            requests.clear();
        }
    }

    public boolean containsKey(K key) {
        try (RequestBuffer scratch = opening.borrowFor(key)) {
            return isPresent(scratch);
        }
    }

    /** Whether there is an entry; the request has its version, or one that is good for IF_ABSENT_SINCE. No access. */
    boolean isPresent(RequestBuffer scratch) {
        final Request request = scratch.get().requestValue(false);
        opening.execute(request);
        return request.status() == Status.OK;
    }

    public Versioned<V> getVersioned(K key) {
        final long startNs = opening.statistics().start();
        try (RequestBuffer scratch = opening.borrowFor(key)) {
            final Request request = scratch.get().accessTtl(accessMs);
            opening.execute(request);
            final boolean hit = request.status() == Status.OK;
            final Versioned<V> read = new Versioned<>(hit ? opening.valueOf(request) : null, request.version());
            if (hit && asksOnAccess) {
                accessed(scratch, read.version());
            }
            opening.statistics().got(hit, startNs);
            return read;
        }
    }
}
