package org.rowankv.jcache;

import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import javax.cache.CacheManager;
import javax.cache.configuration.CacheEntryListenerConfiguration;
import javax.cache.configuration.Configuration;
import javax.cache.integration.CompletionListener;
import javax.cache.processor.EntryProcessor;
import javax.cache.processor.EntryProcessorResult;
import org.jspecify.annotations.Nullable;
import org.rowankv.jcache.configuration.OpenConfiguration;
import org.rowankv.jcache.management.Statistics;
import org.rowankv.jcache.operation.Versioned;
import org.rowankv.jcache.store.Store;

/**
 * Cache of a store that was not connected when the cache was created. Until the store is connected, reads find nothing,
 * and all else throws: a write that stores nothing, or a removal that removes nothing, must not seem to have succeeded.
 * Nor does a read that would have to call a loader. The first operation after that opens the cache itself, which then
 * receives all. Thread-safe.
 */
final class LazyCache<K, V> extends ManagedCache<K, V> {
    private final RowanCacheManager manager;
    private final String name;
    private final OpenConfiguration<K, V> configuration;
    private final Store store;
    private final Supplier<CacheProxy<K, V>> opener;
    private final Statistics nothingCounted;
    private final ReentrantLock opening = new ReentrantLock();
    private volatile @Nullable CacheProxy<K, V> opened;
    private volatile boolean closed;

    /** @param opener opens and starts the cache, once the store is connected */
    LazyCache(
            RowanCacheManager manager,
            String name,
            OpenConfiguration<K, V> configuration,
            Store store,
            Supplier<CacheProxy<K, V>> opener) {
        this.manager = manager;
        this.name = name;
        this.configuration = configuration;
        this.store = store;
        this.opener = opener;
        this.nothingCounted = new Statistics(store.clock(), () -> 0);
    }

    /** The cache itself; null if the store is not connected. */
    private @Nullable CacheProxy<K, V> find() {
        final CacheProxy<K, V> present = opened;
        if (present != null) {
            return present;
        }
        requireOpen();
        if (!store.isConnected()) {
            return null;
        }
        opening.lock();
        try {
            requireOpen();
            CacheProxy<K, V> found = opened;
            if (found == null) {
                found = opener.get();
                opened = found;
            }
            return found;
        } finally {
            opening.unlock();
        }
    }

    private void requireOpen() {
        if (closed) {
            throw new IllegalStateException("the cache " + name + " is closed");
        }
    }

    /** The cache itself; throws if the store is not connected. */
    private CacheProxy<K, V> required() {
        CacheProxy<K, V> found = find();
        while (found == null) {
            Objects.requireNonNull(store.client(), "it throws while the store is not connected");
            found = find();
        }
        return found;
    }

    /** The cache itself for a read; null if the read finds nothing. */
    private @Nullable CacheProxy<K, V> forRead() {
        return configuration.isReadThrough() ? required() : find();
    }

    // --- reading ---

    @Override
    public @Nullable V get(K key) {
        Objects.requireNonNull(key, "key");
        final CacheProxy<K, V> cache = forRead();
        return cache == null ? null : cache.get(key);
    }

    @Override
    public Map<K, V> getAll(Set<? extends K> keys) {
        Objects.requireNonNull(keys, "keys");
        final CacheProxy<K, V> cache = forRead();
        return cache == null ? new HashMap<>() : cache.getAll(keys);
    }

    @Override
    public boolean containsKey(K key) {
        Objects.requireNonNull(key, "key");
        final CacheProxy<K, V> cache = find();
        return cache != null && cache.containsKey(key);
    }

    @Override
    public Versioned<V> getVersioned(K key) {
        Objects.requireNonNull(key, "key");
        final CacheProxy<K, V> cache = find();
        return cache == null ? new Versioned<>(null, 0) : cache.getVersioned(key);
    }

    @Override
    public Iterator<Entry<K, V>> iterator() {
        final CacheProxy<K, V> cache = find();
        return cache == null ? Collections.emptyIterator() : cache.iterator();
    }

    @Override
    public Iterable<K> keys() {
        final CacheProxy<K, V> cache = find();
        return cache == null ? Set.of() : cache.keys();
    }

    @Override
    public void loadAll(Set<? extends K> keys, boolean replaceExistingValues, @Nullable CompletionListener listener) {
        required().loadAll(keys, replaceExistingValues, listener);
    }

    // --- writing ---

    @Override
    public void put(K key, V value) {
        required().put(key, value);
    }

    @Override
    public @Nullable V getAndPut(K key, V value) {
        return required().getAndPut(key, value);
    }

    @Override
    public void putAll(Map<? extends K, ? extends V> map) {
        required().putAll(map);
    }

    @Override
    public boolean putIfAbsent(K key, V value) {
        return required().putIfAbsent(key, value);
    }

    @Override
    public boolean remove(K key) {
        return required().remove(key);
    }

    @Override
    public boolean remove(K key, V oldValue) {
        return required().remove(key, oldValue);
    }

    @Override
    public @Nullable V getAndRemove(K key) {
        return required().getAndRemove(key);
    }

    @Override
    public boolean replace(K key, V oldValue, V newValue) {
        return required().replace(key, oldValue, newValue);
    }

    @Override
    public boolean replace(K key, V value) {
        return required().replace(key, value);
    }

    @Override
    public @Nullable V getAndReplace(K key, V value) {
        return required().getAndReplace(key, value);
    }

    @Override
    public boolean replaceIfVersion(K key, V value, long version) {
        return required().replaceIfVersion(key, value, version);
    }

    @Override
    public boolean removeIfVersion(K key, long version) {
        return required().removeIfVersion(key, version);
    }

    @Override
    public void removeAll(Set<? extends K> keys) {
        required().removeAll(keys);
    }

    @Override
    public void removeAll() {
        required().removeAll();
    }

    @Override
    public void clear() {
        required().clear();
    }

    @Override
    public Map<K, RuntimeException> putEach(Map<? extends K, ? extends V> entries) {
        return required().putEach(entries);
    }

    @Override
    public Map<K, RuntimeException> removeEach(Iterable<? extends K> keys) {
        return required().removeEach(keys);
    }

    @Override
    public <T> @Nullable T invoke(K key, EntryProcessor<K, V, T> entryProcessor, @Nullable Object... arguments) {
        return required().invoke(key, entryProcessor, arguments);
    }

    @Override
    public <T> Map<K, EntryProcessorResult<T>> invokeAll(
            Set<? extends K> keys, EntryProcessor<K, V, T> entryProcessor, @Nullable Object... arguments) {
        return required().invokeAll(keys, entryProcessor, arguments);
    }

    // --- listeners and management ---

    @Override
    public void registerCacheEntryListener(CacheEntryListenerConfiguration<K, V> listener) {
        required().registerCacheEntryListener(listener);
    }

    @Override
    public void deregisterCacheEntryListener(CacheEntryListenerConfiguration<K, V> listener) {
        required().deregisterCacheEntryListener(listener);
    }

    @Override
    public long lostEventCount() {
        final CacheProxy<K, V> cache = opened;
        return cache == null ? 0 : cache.lostEventCount();
    }

    /** Opening the cache reads the configuration. */
    @Override
    void enableStatistics(boolean enabled) {
        configuration.enableStatistics(enabled);
        final CacheProxy<K, V> cache = find();
        if (cache != null) {
            cache.enableStatistics(enabled);
        }
    }

    @Override
    void enableManagement(boolean enabled) {
        configuration.enableManagement(enabled);
        final CacheProxy<K, V> cache = find();
        if (cache != null) {
            cache.enableManagement(enabled);
        }
    }

    @Override
    public long entryCount() {
        final CacheProxy<K, V> cache = find();
        return cache == null ? 0 : cache.entryCount();
    }

    @Override
    public long entryBytes() {
        final CacheProxy<K, V> cache = find();
        return cache == null ? 0 : cache.entryBytes();
    }

    @Override
    public String durability() {
        return required().durability();
    }

    // --- identity and life ---

    @Override
    public String getName() {
        return name;
    }

    @Override
    public CacheManager getCacheManager() {
        return manager;
    }

    @Override
    OpenConfiguration<K, V> configuration() {
        return configuration;
    }

    @Override
    public <C extends Configuration<K, V>> C getConfiguration(Class<C> type) {
        if (type.isInstance(configuration)) {
            return type.cast(configuration);
        }
        throw new IllegalArgumentException("the configuration of a cache is no " + type.getName());
    }

    @Override
    public <T> T unwrap(Class<T> type) {
        if (type.isInstance(this)) {
            return type.cast(this);
        }
        final CacheProxy<K, V> cache = opened;
        if (cache != null) {
            return cache.unwrap(type);
        }
        if (type.isInstance(nothingCounted)) {
            return type.cast(nothingCounted);
        }
        throw new IllegalArgumentException("a cache of this provider is no " + type.getName());
    }

    @Override
    boolean standsFor(ManagedCache<?, ?> cache) {
        return cache == this || cache == opened;
    }

    @Override
    public void close() {
        final CacheProxy<K, V> cache;
        opening.lock();
        try {
            closed = true;
            cache = opened;
        } finally {
            opening.unlock();
        }
        manager.closed(this);
        if (cache != null) {
            cache.close();
        }
    }

    @Override
    public boolean isClosed() {
        final CacheProxy<K, V> cache = opened;
        return cache == null ? closed : cache.isClosed();
    }
}
