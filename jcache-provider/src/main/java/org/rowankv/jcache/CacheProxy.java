package org.rowankv.jcache;

import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.RejectedExecutionException;
import javax.cache.CacheManager;
import javax.cache.configuration.CacheEntryListenerConfiguration;
import javax.cache.configuration.Configuration;
import javax.cache.integration.CacheLoaderException;
import javax.cache.integration.CompletionListener;
import javax.cache.management.CacheMXBean;
import javax.cache.processor.EntryProcessor;
import javax.cache.processor.EntryProcessorResult;
import org.jspecify.annotations.Nullable;
import org.rowankv.jcache.configuration.OpenConfiguration;
import org.rowankv.jcache.event.Registration;
import org.rowankv.jcache.event.Subscription;
import org.rowankv.jcache.integration.BackgroundThreads;
import org.rowankv.jcache.integration.LoaderCalls;
import org.rowankv.jcache.management.ConfigurationBean;
import org.rowankv.jcache.management.RowanCacheStatisticsMXBean;
import org.rowankv.jcache.management.ShownBean;
import org.rowankv.jcache.operation.Bulk;
import org.rowankv.jcache.operation.CacheBinding;
import org.rowankv.jcache.operation.EntryIterator;
import org.rowankv.jcache.operation.Invocations;
import org.rowankv.jcache.operation.KeyIterator;
import org.rowankv.jcache.operation.Mutations;
import org.rowankv.jcache.operation.Reads;
import org.rowankv.jcache.operation.Versioned;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A cache opened by its manager: checks that it is open, then delegates to the operation classes. Closing it closes the
 * parts of its configuration; the entries stay in the store. Thread-safe.
 */
final class CacheProxy<K, V> extends ManagedCache<K, V> {
    private static final Logger LOG = LoggerFactory.getLogger(CacheProxy.class);

    private final RowanCacheManager manager;
    private final CacheBinding<K, V> binding;
    private final OpenConfiguration<K, V> configuration;
    private final @Nullable LoaderCalls<K, V> loader;
    private final List<Registration<K, V>> listeners;
    private final BackgroundThreads threads;
    private final int listenerBacklog;
    private final Reads<K, V> reads;
    private final Mutations<K, V> mutations;
    private final Invocations<K, V> invocations;
    private final Bulk<K, V> bulk;
    /** Held here: beans reference what they show weakly. */
    private final ConfigurationBean shownConfiguration;

    private final ShownBean configurationBean;
    private final ShownBean statisticsBean;
    private final List<Subscription<K, V>> subscriptions = new CopyOnWriteArrayList<>();
    private volatile boolean started;
    private volatile boolean closed;

    /**
     * @param loader for loadAll, also if the cache is not read-through
     * @param listeners of the configuration, active from {@link #start} on
     */
    CacheProxy(
            RowanCacheManager manager,
            CacheBinding<K, V> binding,
            OpenConfiguration<K, V> configuration,
            @Nullable LoaderCalls<K, V> loader,
            List<Registration<K, V>> listeners,
            BackgroundThreads threads,
            int listenerBacklog) {
        this.manager = manager;
        this.binding = binding;
        this.configuration = configuration;
        this.loader = loader;
        this.listeners = listeners;
        this.threads = threads;
        this.listenerBacklog = listenerBacklog;
        this.reads = new Reads<>(binding);
        this.mutations = new Mutations<>(binding);
        this.invocations = new Invocations<>(binding);
        this.bulk = new Bulk<>(binding, reads, mutations);
        this.shownConfiguration = new ConfigurationBean(configuration);
        final String uri = manager.getURI().toString();
        this.configurationBean = manager.resources().bean("CacheConfiguration", uri, binding.name());
        this.statisticsBean = manager.resources().bean("CacheStatistics", uri, binding.name());
    }

    /** Activates listeners and MXBeans; called once. A cache that closes meanwhile stays closed. */
    void start() {
        synchronized (this) {
            requireOpen();
            started = true;
        }
        binding.onDestroyed(this::close);
        listeners.forEach(this::subscribe);
        enableStatistics(configuration.isStatisticsEnabled());
        enableManagement(configuration.isManagementEnabled());
    }

    /** As {@link #start}, and closes the cache if it fails. */
    void startOrClose() {
        boolean done = false;
        try {
            start();
            done = true;
        } finally {
            if (!done) {
                close();
            }
        }
    }

    private void requireOpen() {
        if (closed) {
            throw new IllegalStateException("the cache " + binding.name() + " is closed");
        }
    }

    private Reads<K, V> reads() {
        requireOpen();
        return reads;
    }

    private Mutations<K, V> mutations() {
        requireOpen();
        return mutations;
    }

    private Bulk<K, V> bulk() {
        requireOpen();
        return bulk;
    }

    // --- reading ---

    @Override
    public @Nullable V get(K key) {
        return reads().get(key);
    }

    @Override
    public Map<K, V> getAll(Set<? extends K> keys) {
        return reads().getAll(keys);
    }

    @Override
    public boolean containsKey(K key) {
        return reads().containsKey(key);
    }

    @Override
    public Versioned<V> getVersioned(K key) {
        return reads().getVersioned(key);
    }

    @Override
    public Iterator<Entry<K, V>> iterator() {
        requireOpen();
        return new EntryIterator<>(binding, reads, mutations, () -> closed);
    }

    @Override
    public Iterable<K> keys() {
        requireOpen();
        return () -> {
            requireOpen();
            return new KeyIterator<>(binding, () -> closed);
        };
    }

    @Override
    public void loadAll(
            Set<? extends K> keys, boolean replaceExistingValues, @Nullable CompletionListener completionListener) {
        requireOpen();
        final Set<K> copies = new LinkedHashSet<>();
        for (K key : keys) {
            copies.add(binding.copyOf(key));
        }
        try {
            threads.loads().execute(() -> load(copies, replaceExistingValues, completionListener));
        } catch (RejectedExecutionException e) {
            throw new IllegalStateException("the cache " + binding.name() + " is closed", e);
        }
    }

    private void load(Set<K> keys, boolean replaceExistingValues, @Nullable CompletionListener completionListener) {
        try {
            if (loader != null) {
                requireOpen();
                bulk.loadAll(keys, replaceExistingValues, loader);
            }
        } catch (RuntimeException e) {
            reportFailure(completionListener, e);
            return;
        } catch (StackOverflowError | AssertionError | LinkageError e) {
            reportFailure(completionListener, new CacheLoaderException("the loader failed", e));
            return;
        }
        if (completionListener != null) {
            completionListener.onCompletion();
        }
    }

    private void reportFailure(@Nullable CompletionListener completionListener, RuntimeException failure) {
        if (completionListener != null) {
            completionListener.onException(failure);
        } else if (!closed) {
            LOG.warn("ROWAN-1110 loadAll on the cache {} failed", binding.name(), failure);
        }
    }

    // --- writing ---

    @Override
    public void put(K key, V value) {
        mutations().put(key, value);
    }

    @Override
    public @Nullable V getAndPut(K key, V value) {
        return mutations().getAndPut(key, value);
    }

    @Override
    public void putAll(Map<? extends K, ? extends V> map) {
        bulk().putAll(map);
    }

    @Override
    public boolean putIfAbsent(K key, V value) {
        return mutations().putIfAbsent(key, value);
    }

    @Override
    public boolean remove(K key) {
        return mutations().remove(key);
    }

    @Override
    public boolean remove(K key, V oldValue) {
        return mutations().remove(key, oldValue);
    }

    @Override
    public @Nullable V getAndRemove(K key) {
        return mutations().getAndRemove(key);
    }

    @Override
    public boolean replace(K key, V oldValue, V newValue) {
        return mutations().replace(key, oldValue, newValue);
    }

    @Override
    public boolean replace(K key, V value) {
        return mutations().replace(key, value);
    }

    @Override
    public @Nullable V getAndReplace(K key, V value) {
        return mutations().getAndReplace(key, value);
    }

    @Override
    public boolean replaceIfVersion(K key, V value, long version) {
        return mutations().replaceIfVersion(key, value, version);
    }

    @Override
    public boolean removeIfVersion(K key, long version) {
        return mutations().removeIfVersion(key, version);
    }

    @Override
    public void removeAll(Set<? extends K> keys) {
        bulk().removeAll(keys);
    }

    @Override
    public void removeAll() {
        bulk().removeAll();
    }

    @Override
    public void clear() {
        requireOpen();
        binding.clear();
    }

    @Override
    public Map<K, RuntimeException> putEach(Map<? extends K, ? extends V> entries) {
        return bulk().putEach(entries);
    }

    @Override
    public Map<K, RuntimeException> removeEach(Iterable<? extends K> keys) {
        return bulk().removeEach(keys);
    }

    // --- processors ---

    @Override
    public <T> @Nullable T invoke(K key, EntryProcessor<K, V, T> entryProcessor, @Nullable Object... arguments) {
        requireOpen();
        binding.checkKey(key);
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
        requireOpen();
    }

    private void subscribe(Registration<K, V> listener) {
        final boolean canExpire = !binding.expiry().isEternal();
        final Subscription<K, V> subscription =
                new Subscription<>(this, listener, binding, canExpire, threads.listeners(), listenerBacklog);
        subscriptions.add(subscription);
        binding.sharedState().events().subscribe(subscription);
        if (closed) { // a concurrent close may have missed this one
            unsubscribe(subscription);
        }
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

    @Override
    public long lostEventCount() {
        return subscriptions.stream().mapToLong(Subscription::lostEventCount).sum();
    }

    private void unsubscribe(Subscription<K, V> subscription) {
        binding.sharedState().events().unsubscribe(subscription);
        subscriptions.remove(subscription);
        CloseSequence.close(subscription, getName());
    }

    // --- management ---

    @Override
    void enableStatistics(boolean enabled) {
        requireOpen();
        configuration.enableStatistics(enabled);
        binding.statistics().enable(enabled);
        if (enabled) {
            statisticsBean.show(RowanCacheStatisticsMXBean.class, binding.statistics());
            hideIfClosed();
        } else {
            statisticsBean.hide();
        }
    }

    @Override
    void enableManagement(boolean enabled) {
        requireOpen();
        configuration.enableManagement(enabled);
        if (enabled) {
            configurationBean.show(CacheMXBean.class, shownConfiguration);
            hideIfClosed();
        } else {
            configurationBean.hide();
        }
    }

    /** A concurrent close may have missed a bean that is being registered. */
    private void hideIfClosed() {
        if (closed) {
            configurationBean.hide();
            statisticsBean.hide();
        }
    }

    @Override
    public long entryCount() {
        requireOpen();
        return binding.entryCount();
    }

    @Override
    public long entryBytes() {
        requireOpen();
        return binding.entryBytes();
    }

    @Override
    public String durability() {
        requireOpen();
        return manager.durability();
    }

    // --- identity and life ---

    @Override
    public String getName() {
        return binding.name();
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
        if (type.isInstance(binding.statistics())) {
            return type.cast(binding.statistics());
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
        final CloseSequence closing = new CloseSequence()
                .step(() -> manager.resources().hide(configurationBean))
                .step(() -> manager.resources().hide(statisticsBean));
        subscriptions.forEach(each -> closing.step(() -> unsubscribe(each)));
        if (!started) {
            listeners.forEach(each -> closing.step(() -> CloseSequence.close(each, getName())));
        }
        closing.step(() -> CloseSequence.close(loader, getName()))
                .step(() -> CloseSequence.close(binding.writes(), getName()))
                .step(() -> CloseSequence.close(binding.expiry(), getName()))
                .step(binding::forgetNear)
                .step(() -> manager.closed(this))
                .finish();
    }

    @Override
    public boolean isClosed() {
        return closed;
    }
}
