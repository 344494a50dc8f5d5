package org.rowankv.jcache.operation;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import javax.cache.Cache;
import javax.cache.integration.CacheWriterException;
import org.jspecify.annotations.Nullable;
import org.rowankv.driver.ScanCursor;
import org.rowankv.driver.api.RowanException;
import org.rowankv.jcache.expiry.ExpiryEvaluator;
import org.rowankv.jcache.integration.LoaderCalls;
import org.rowankv.jcache.integration.WriterCalls;
import org.rowankv.jcache.integration.WrittenEntry;
import org.rowankv.protocol.Condition;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Ttl;

/**
 * Bulk operations: each entry is an independent operation, not atomic with others. The writer is called once for all
 * entries, first; entries it did not write stay unchanged in the cache. Bulk write-through is unordered against other
 * writes of the same keys. Thread-safe.
 */
public final class Bulk<K, V> {
    /** Limit of requests per batch. */
    private static final int MAX_BATCH = 256;

    private final CacheBinding<K, V> binding;
    private final Reads<K, V> reads;
    private final Mutations<K, V> mutations;

    public Bulk(CacheBinding<K, V> binding, Reads<K, V> reads, Mutations<K, V> mutations) {
        this.binding = binding;
        this.reads = reads;
        this.mutations = mutations;
    }

    public void putAll(Map<? extends K, ? extends V> map) {
        final Map<K, V> entries = new LinkedHashMap<>();
        for (Map.Entry<? extends K, ? extends V> entry : map.entrySet()) {
            binding.checkKey(entry.getKey());
            binding.checkValue(entry.getValue());
            entries.put(entry.getKey(), entry.getValue());
        }
        final CacheWriterException unwritten = writeAll(entries);
        RuntimeException failure = unwritten;
        if (mutations.batches()) {
            failure = putBatched(entries, failure);
        } else {
            for (Map.Entry<K, V> entry : entries.entrySet()) {
                failure = runStep(failure, () -> mutations.putWritten(entry.getKey(), entry.getValue()));
            }
        }
        if (failure != null) {
            throw failure;
        }
    }

    private @Nullable RuntimeException putBatched(Map<K, V> entries, @Nullable RuntimeException before) {
        RuntimeException failure = before;
        final List<Request> requests = new ArrayList<>();
        for (Iterator<Map.Entry<K, V>> each = entries.entrySet().iterator(); each.hasNext(); ) {
            final Map.Entry<K, V> next = each.next();
            failure = runStep(failure, () -> requests.add(mutations.beginPut(next.getKey(), next.getValue())));
            if (requests.size() < MAX_BATCH && each.hasNext()) {
                continue;
            }
            final long startNs = binding.statistics().start();
            failure = runStep(failure, () -> binding.executeAll(requests));
            for (Request request : requests) {
                failure = runStep(failure, () -> mutations.endPut(request, startNs));
            }
            requests.clear();
        }
        return failure;
    }

    /** Leaves only the written entries in the map. */
    private @Nullable CacheWriterException writeAll(Map<K, V> entries) {
        final WriterCalls<K, V> writes = binding.writes();
        if (writes == null || entries.isEmpty()) {
            return null;
        }
        final Collection<Cache.Entry<? extends K, ? extends V>> toWrite = new ArrayList<>(entries.size());
        entries.forEach((key, value) -> toWrite.add(new WrittenEntry<>(key, value)));
        final CacheWriterException failure = writes.writeAll(toWrite);
        if (failure != null) {
            for (Cache.Entry<? extends K, ? extends V> entry : toWrite) {
                entries.remove(entry.getKey());
            }
        }
        return failure;
    }

    /** Runs the step; keeps the first failure, with later ones suppressed in it. Errors propagate. */
    private static @Nullable RuntimeException runStep(@Nullable RuntimeException failure, Runnable step) {
        try {
            step.run();
            return failure;
        } catch (CacheFullException | IllegalStateException e) {
            if (failure != null) {
                e.addSuppressed(failure);
            }
            throw e; // later steps would fail too
        } catch (RuntimeException e) {
            if (failure == null) {
                return e;
            }
            failure.addSuppressed(e);
            return failure;
        }
    }

    public void removeAll(Set<? extends K> keys) {
        for (K key : keys) {
            binding.checkKey(key);
        }
        final Set<K> written = new LinkedHashSet<>(keys);
        final CacheWriterException unwritten = deleteAll(written);
        RuntimeException failure = unwritten;
        for (K key : written) {
            failure = runStep(failure, () -> mutations.removeWritten(key));
        }
        if (failure != null) {
            throw failure;
        }
    }

    /** Leaves only the deleted keys in the set. */
    private @Nullable CacheWriterException deleteAll(Set<K> keys) {
        final WriterCalls<K, V> writes = binding.writes();
        if (writes == null || keys.isEmpty()) {
            return null;
        }
        final Collection<K> toDelete = new ArrayList<>(keys);
        final CacheWriterException failure = writes.deleteAll(toDelete);
        if (failure != null) {
            keys.removeAll(new HashSet<>(toDelete));
        }
        return failure;
    }

    /** Removes the present entries one by one, with writer calls, events and counts. */
    public void removeAll() {
        removeAll(new LinkedHashSet<>(allKeys()));
    }

    private List<K> allKeys() {
        final List<K> keys = new ArrayList<>();
        try {
            final ScanCursor cursor = binding.scan(false);
            while (cursor.hasNext()) {
                keys.add(binding.key(cursor.next().key()));
            }
        } catch (RowanException e) {
            throw ExceptionMapping.of(e);
        }
        return keys;
    }

    /** Loads and stores; a key written or removed since the start stays unchanged. */
    public void loadAll(Collection<? extends K> keys, boolean replaceExisting, LoaderCalls<K, V> loads) {
        final Map<K, Long> versions = new HashMap<>();
        final List<K> toLoad = new ArrayList<>();
        final Set<K> present = new HashSet<>();
        try (RequestBuffer buffer = binding.acquire()) {
            for (K key : keys) {
                binding.encodeKey(key, buffer.key());
                final boolean found = reads.isPresent(buffer);
                if (found && replaceExisting) {
                    present.add(key);
                }
                if (!found || replaceExisting) {
                    versions.put(key, buffer.request().version());
                    toLoad.add(binding.keyOf(buffer));
                }
            }
            if (versions.isEmpty()) {
                return;
            }
            for (Map.Entry<K, V> entry : loads.loadAll(toLoad).entrySet()) {
                final Long version = versions.get(entry.getKey());
                if (version != null && entry.getValue() != null) {
                    store(buffer, entry.getKey(), entry.getValue(), present.contains(entry.getKey()), version);
                }
            }
        }
    }

    private void store(RequestBuffer buffer, K key, V value, boolean present, long version) {
        final ExpiryEvaluator expiry = binding.expiry();
        binding.encodeKey(key, buffer.key());
        binding.encodeValue(value, buffer.value());
        final Request request = present
                ? buffer.put().when(Condition.IF_VERSION, version).ttl(Ttl.ETERNAL, expiry.updateMs())
                : buffer.put().when(Condition.IF_ABSENT_SINCE, version).ttl(expiry.createMs(), Ttl.UNCHANGED);
        binding.execute(request);
    }

    private static void requireKey(@Nullable Object key) {
        Objects.requireNonNull(key, "one of the keys");
    }

    public Map<K, RuntimeException> putEach(Map<? extends K, ? extends V> entries) {
        entries.keySet().forEach(Bulk::requireKey);
        final Map<K, RuntimeException> failures = new HashMap<>();
        entries.forEach((key, value) -> {
            try {
                mutations.put(key, value);
            } catch (RuntimeException e) {
                failures.put(key, e);
            }
        });
        return failures;
    }

    public Map<K, RuntimeException> removeEach(Iterable<? extends K> keys) {
        keys.forEach(Bulk::requireKey);
        final Map<K, RuntimeException> failures = new HashMap<>();
        for (K key : keys) {
            try {
                mutations.remove(key);
            } catch (RuntimeException e) {
                failures.put(key, e);
            }
        }
        return failures;
    }
}
