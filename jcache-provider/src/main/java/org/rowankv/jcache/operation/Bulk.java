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
 * The operations on many entries: each entry is an operation of its own, none is atomic with another. A writer is called
 * once for all of them, before; what it could not write does not change in the cache. Write-through of a bulk operation is
 * not ordered against other writers of the same keys. Thread-safe.
 */
public final class Bulk<K, V> {
    /** Requests that are sent at once. */
    private static final int TOGETHER = 256;

    private final CacheBinding<K, V> opening;
    private final Reads<K, V> reads;
    private final Mutations<K, V> mutations;

    public Bulk(CacheBinding<K, V> opening, Reads<K, V> reads, Mutations<K, V> mutations) {
        this.opening = opening;
        this.reads = reads;
        this.mutations = mutations;
    }

    public void putAll(Map<? extends K, ? extends V> map) {
        final Map<K, V> entries = new LinkedHashMap<>();
        for (Map.Entry<? extends K, ? extends V> entry : map.entrySet()) {
            opening.checkKey(entry.getKey());
            opening.checkValue(entry.getValue());
            entries.put(entry.getKey(), entry.getValue());
        }
        final CacheWriterException unwritten = writeAll(entries);
        RuntimeException failure = unwritten;
        if (mutations.goesTogether()) {
            failure = putTogether(entries, failure);
        } else {
            for (Map.Entry<K, V> entry : entries.entrySet()) {
                failure = and(failure, () -> mutations.putWritten(entry.getKey(), entry.getValue()));
            }
        }
        if (failure != null) {
            throw failure;
        }
    }

    private @Nullable RuntimeException putTogether(Map<K, V> entries, @Nullable RuntimeException before) {
        RuntimeException failure = before;
        final List<Request> requests = new ArrayList<>();
        for (Iterator<Map.Entry<K, V>> each = entries.entrySet().iterator(); each.hasNext(); ) {
            final Map.Entry<K, V> next = each.next();
            failure = and(failure, () -> requests.add(mutations.beginPut(next.getKey(), next.getValue())));
            if (requests.size() < TOGETHER && each.hasNext()) {
                continue;
            }
            final long startNs = opening.statistics().start();
            failure = and(failure, () -> opening.executeAll(requests));
            for (Request request : requests) {
                failure = and(failure, () -> mutations.endPut(request, startNs));
            }
            requests.clear();
        }
        return failure;
    }

    /** Leaves only what was written in the map. */
    private @Nullable CacheWriterException writeAll(Map<K, V> entries) {
        final WriterCalls<K, V> writes = opening.writes();
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

    /** Runs the step; of several failures the first, with the others suppressed in it. Errors pass. */
    private static @Nullable RuntimeException and(@Nullable RuntimeException failure, Runnable step) {
        try {
            step.run();
            return failure;
        } catch (CacheFullException | IllegalStateException e) {
            if (failure != null) {
                e.addSuppressed(failure);
            }
            throw e; // the steps that follow would fare no better
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
            opening.checkKey(key);
        }
        final Set<K> written = new LinkedHashSet<>(keys);
        final CacheWriterException unwritten = deleteAll(written);
        RuntimeException failure = unwritten;
        for (K key : written) {
            failure = and(failure, () -> mutations.removeWritten(key));
        }
        if (failure != null) {
            throw failure;
        }
    }

    /** Leaves only what was deleted in the set. */
    private @Nullable CacheWriterException deleteAll(Set<K> keys) {
        final WriterCalls<K, V> writes = opening.writes();
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

    /** Removes the entries there are, one by one: writer, listeners and statistics hear of each. */
    public void removeAll() {
        removeAll(new LinkedHashSet<>(allKeys()));
    }

    private List<K> allKeys() {
        final List<K> keys = new ArrayList<>();
        try {
            final ScanCursor cursor = opening.scan(false);
            while (cursor.hasNext()) {
                keys.add(opening.key(cursor.next().key()));
            }
        } catch (RowanException e) {
            throw ExceptionMapping.of(e);
        }
        return keys;
    }

    /**
     * Loads and stores; a key that was written or removed since the load began keeps what it has. Without a loader nothing
     * happens.
     */
    public void loadAll(Collection<? extends K> keys, boolean replaceExisting, LoaderCalls<K, V> loads) {
        final Map<K, Long> versions = new HashMap<>();
        final List<K> toLoad = new ArrayList<>();
        final Set<K> present = new HashSet<>();
        try (RequestBuffer scratch = opening.borrow()) {
            for (K key : keys) {
                opening.encodeKey(key, scratch.key());
                final boolean found = reads.isPresent(scratch);
                if (found && replaceExisting) {
                    present.add(key);
                }
                if (!found || replaceExisting) {
                    versions.put(key, scratch.request().version());
                    toLoad.add(opening.keyOf(scratch));
                }
            }
            if (versions.isEmpty()) {
                return;
            }
            for (Map.Entry<K, V> entry : loads.loadAll(toLoad).entrySet()) {
                final Long version = versions.get(entry.getKey());
                if (version != null && entry.getValue() != null) {
                    store(scratch, entry.getKey(), entry.getValue(), present.contains(entry.getKey()), version);
                }
            }
        }
    }

    private void store(RequestBuffer scratch, K key, V value, boolean present, long version) {
        final ExpiryEvaluator lifetimes = opening.lifetimes();
        opening.encodeKey(key, scratch.key());
        opening.encodeValue(value, scratch.value());
        final Request request = present
                ? scratch.put().when(Condition.IF_VERSION, version).ttl(Ttl.ETERNAL, lifetimes.updateMs())
                : scratch.put().when(Condition.IF_ABSENT_SINCE, version).ttl(lifetimes.createMs(), Ttl.UNCHANGED);
        opening.execute(request);
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
