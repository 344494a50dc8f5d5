package org.rowankv.jcache;

import java.io.Closeable;
import java.io.IOException;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;
import javax.cache.CacheManager;
import javax.cache.configuration.CacheEntryListenerConfiguration;
import javax.cache.configuration.Configuration;
import javax.cache.integration.CacheLoaderException;
import javax.cache.integration.CompletionListener;
import javax.cache.processor.EntryProcessor;
import javax.cache.processor.EntryProcessorResult;
import org.jspecify.annotations.Nullable;
import org.rowankv.jcache.configuration.OpenConfiguration;
import org.rowankv.jcache.event.Registration;
import org.rowankv.jcache.event.Subscription;
import org.rowankv.jcache.integration.BackgroundThreads;
import org.rowankv.jcache.integration.Loads;
import org.rowankv.jcache.management.Beans;
import org.rowankv.jcache.management.ConfigurationBean;
import org.rowankv.jcache.management.StatisticsBean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A cache as its manager opened it: checks that it is open, then hands on to the room that does the work. Closing it ends
 * this opening and closes what came with its configuration; the entries stay in the store. Thread-safe.
 */
final class OpenCache<K, V> implements RowanCache<K, V> {
    private static final Logger LOG = LoggerFactory.getLogger(OpenCache.class);

    private final RowanCacheManager manager;
    private final Opening<K, V> opening;
    private final OpenConfiguration<K, V> configuration;
    private final @Nullable Loads<K, V> loader;
    private final List<Registration<K, V>> listeners;
    private final BackgroundThreads threads;
    private final int listenerBacklog;
    private final Reads<K, V> reads;
    private final Mutations<K, V> mutations;
    private final Invocations<K, V> invocations;
    private final Bulk<K, V> bulk;
    private final Beans beans;
    private final List<Subscription<K, V>> subscriptions = new CopyOnWriteArrayList<>();
    private volatile boolean started;
    private volatile boolean closed;

    /**
     * @param loader for loadAll, whether or not the cache reads through
     * @param listeners of the configuration, told from {@link #start} on
     */
    OpenCache(
            RowanCacheManager manager,
            Opening<K, V> opening,
            OpenConfiguration<K, V> configuration,
            @Nullable Loads<K, V> loader,
            List<Registration<K, V>> listeners,
            BackgroundThreads threads,
            int listenerBacklog) {
        this.manager = manager;
        this.opening = opening;
        this.configuration = configuration;
        this.loader = loader;
        this.listeners = listeners;
        this.threads = threads;
        this.listenerBacklog = listenerBacklog;
        this.reads = new Reads<>(opening);
        this.mutations = new Mutations<>(opening);
        this.invocations = new Invocations<>(opening);
        this.bulk = new Bulk<>(opening, reads, mutations);
        this.beans = new Beans(manager.getURI().toString(), opening.name());
    }

    /** Begins the telling of listeners and the showing of MXBeans; called once, before anyone else has the cache. */
    void start() {
        started = true;
        opening.whenDestroyed(this::close);
        listeners.forEach(this::subscribe);
        enableStatistics(configuration.isStatisticsEnabled());
        enableManagement(configuration.isManagementEnabled());
    }

    private void requireOpen() {
        if (closed) {
            throw new IllegalStateException("the cache " + opening.name() + " is closed");
        }
    }

    // --- reading ---

    @Override
    public @Nullable V get(K key) {
        requireOpen();
        return reads.get(key);
    }

    @Override
    public Map<K, V> getAll(Set<? extends K> keys) {
        requireOpen();
        return reads.getAll(keys);
    }

    @Override
    public boolean containsKey(K key) {
        requireOpen();
        return reads.containsKey(key);
    }

    @Override
    public Versioned<V> getVersioned(K key) {
        requireOpen();
        return reads.getVersioned(key);
    }

    @Override
    public Iterator<Entry<K, V>> iterator() {
        requireOpen();
        return new EntryIterator<>(opening, reads, mutations, () -> closed);
    }

    @Override
    public void loadAll(
            Set<? extends K> keys, boolean replaceExistingValues, @Nullable CompletionListener completionListener) {
        requireOpen();
        for (K key : keys) {
            opening.checkKey(key);
        }
        final Set<? extends K> wanted = Set.copyOf(keys);
        try {
            threads.execute(() -> load(wanted, replaceExistingValues, completionListener));
        } catch (RejectedExecutionException e) {
            throw new IllegalStateException("the cache " + opening.name() + " is closed", e);
        }
    }

    private void load(
            Set<? extends K> keys, boolean replaceExistingValues, @Nullable CompletionListener completionListener) {
        try {
            if (loader != null) {
                requireOpen();
                bulk.loadAll(keys, replaceExistingValues, loader);
            }
        } catch (RuntimeException e) {
            failed(completionListener, e);
            return;
        } catch (StackOverflowError | AssertionError | LinkageError e) {
            failed(completionListener, new CacheLoaderException("the loader failed", e));
            return;
        }
        if (completionListener != null) {
            completionListener.onCompletion();
        }
    }

    private void failed(@Nullable CompletionListener completionListener, RuntimeException failure) {
        if (completionListener != null) {
            completionListener.onException(failure);
        } else if (!closed) {
            LOG.warn("loadAll on the cache {} failed", opening.name(), failure);
        }
    }

    // --- writing ---

    @Override
    public void put(K key, V value) {
        requireOpen();
        mutations.put(key, value);
    }

    @Override
    public @Nullable V getAndPut(K key, V value) {
        requireOpen();
        return mutations.getAndPut(key, value);
    }

    @Override
    public void putAll(Map<? extends K, ? extends V> map) {
        requireOpen();
        bulk.putAll(map);
    }

    @Override
    public boolean putIfAbsent(K key, V value) {
        requireOpen();
        return mutations.putIfAbsent(key, value);
    }

    @Override
    public boolean remove(K key) {
        requireOpen();
        return mutations.remove(key);
    }

    @Override
    public boolean remove(K key, V oldValue) {
        requireOpen();
        return mutations.remove(key, oldValue);
    }

    @Override
    public @Nullable V getAndRemove(K key) {
        requireOpen();
        return mutations.getAndRemove(key);
    }

    @Override
    public boolean replace(K key, V oldValue, V newValue) {
        requireOpen();
        return mutations.replace(key, oldValue, newValue);
    }

    @Override
    public boolean replace(K key, V value) {
        requireOpen();
        return mutations.replace(key, value);
    }

    @Override
    public @Nullable V getAndReplace(K key, V value) {
        requireOpen();
        return mutations.getAndReplace(key, value);
    }

    @Override
    public boolean replaceIfVersion(K key, V value, long version) {
        requireOpen();
        return mutations.replaceIfVersion(key, value, version);
    }

    @Override
    public boolean removeIfVersion(K key, long version) {
        requireOpen();
        return mutations.removeIfVersion(key, version);
    }

    @Override
    public void removeAll(Set<? extends K> keys) {
        requireOpen();
        bulk.removeAll(keys);
    }

    @Override
    public void removeAll() {
        requireOpen();
        bulk.removeAll();
    }

    @Override
    public void clear() {
        requireOpen();
        opening.clear();
    }

    @Override
    public Map<K, RuntimeException> putEach(Map<? extends K, ? extends V> entries) {
        requireOpen();
        return bulk.putEach(entries);
    }

    @Override
    public Map<K, RuntimeException> removeEach(Iterable<? extends K> keys) {
        requireOpen();
        return bulk.removeEach(keys);
    }

    // --- processors ---

    @Override
    public <T> @Nullable T invoke(K key, EntryProcessor<K, V, T> entryProcessor, @Nullable Object... arguments) {
        requireOpen();
        opening.checkKey(key);
        Objects.requireNonNull(entryProcessor, "entryProcessor");
        return invocations.invoke(key, entryProcessor, arguments);
    }

    @Override
    public <T> Map<K, EntryProcessorResult<T>> invokeAll(
            Set<? extends K> keys, EntryProcessor<K, V, T> entryProcessor, @Nullable Object... arguments) {
        requireOpen();
        Objects.requireNonNull(keys, "keys");
        Objects.requireNonNull(entryProcessor, "entryProcessor");
        return invocations.invokeAll(keys, entryProcessor, arguments);
    }

    // --- without waiting ---

    private static <T> CompletionStage<@Nullable T> stage(Supplier<? extends @Nullable T> operation) {
        try {
            return CompletableFuture.completedFuture(operation.get());
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    @Override
    public CompletionStage<@Nullable V> getAsync(K key) {
        return stage(() -> get(key));
    }

    @Override
    public CompletionStage<@Nullable Void> putAsync(K key, V value) {
        return stage(() -> {
            put(key, value);
            return null;
        });
    }

    @Override
    public CompletionStage<Boolean> putIfAbsentAsync(K key, V value) {
        return stage(() -> putIfAbsent(key, value));
    }

    @Override
    public CompletionStage<Boolean> removeAsync(K key) {
        return stage(() -> remove(key));
    }

    // --- listeners ---

    @Override
    public void registerCacheEntryListener(CacheEntryListenerConfiguration<K, V> listener) {
        requireOpen();
        Objects.requireNonNull(listener, "cacheEntryListenerConfiguration");
        for (Subscription<K, V> subscription : subscriptions) {
            if (subscription.configuration().equals(listener)) {
                throw new IllegalArgumentException("this listener is registered already");
            }
        }
        subscribe(Registration.of(listener));
        configuration.addListener(listener);
    }

    private void subscribe(Registration<K, V> listener) {
        final boolean canExpire = !opening.lifetimes().isEternal();
        final Subscription<K, V> subscription =
                new Subscription<>(this, listener, opening, canExpire, threads, listenerBacklog);
        subscriptions.add(subscription);
        opening.rendezvous().events().subscribe(subscription);
    }

    @Override
    public void deregisterCacheEntryListener(CacheEntryListenerConfiguration<K, V> listener) {
        requireOpen();
        Objects.requireNonNull(listener, "cacheEntryListenerConfiguration");
        for (Subscription<K, V> subscription : subscriptions) {
            if (subscription.configuration().equals(listener)) {
                unsubscribe(subscription);
                configuration.removeListener(listener);
            }
        }
    }

    private void unsubscribe(Subscription<K, V> subscription) {
        opening.rendezvous().events().unsubscribe(subscription);
        subscriptions.remove(subscription);
        close(subscription);
    }

    // --- management ---

    void enableStatistics(boolean enabled) {
        requireOpen();
        configuration.enableStatistics(enabled);
        opening.statistics().enable(enabled);
        if (enabled) {
            beans.showStatistics(new StatisticsBean(opening.statistics()));
        } else {
            beans.hideStatistics();
        }
    }

    void enableManagement(boolean enabled) {
        requireOpen();
        configuration.enableManagement(enabled);
        if (enabled) {
            beans.showConfiguration(new ConfigurationBean(configuration));
        } else {
            beans.hideConfiguration();
        }
    }

    @Override
    public String durability() {
        requireOpen();
        return manager.durability();
    }

    // --- identity and life ---

    @Override
    public String getName() {
        return opening.name();
    }

    @Override
    public CacheManager getCacheManager() {
        return manager;
    }

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
        throw new IllegalArgumentException("a cache of this provider is no " + type.getName());
    }

    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
        }
        beans.hideConfiguration();
        beans.hideStatistics();
        subscriptions.forEach(this::unsubscribe);
        if (!started) {
            listeners.forEach(this::close);
        }
        close(loader);
        close(opening.writes());
        close(opening.lifetimes());
        manager.closed(this);
    }

    /** The user's object may fail to close; the cache is closed all the same. */
    private void close(@Nullable Closeable part) {
        if (part == null) {
            return;
        }
        try {
            part.close();
        } catch (IOException | RuntimeException e) {
            LOG.warn("a part of the configuration of the cache {} failed to close", opening.name(), e);
        }
    }

    @Override
    public boolean isClosed() {
        return closed;
    }
}
