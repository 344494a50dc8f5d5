package org.rowankv.jcache;

import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import javax.cache.Cache;
import javax.cache.CacheException;
import javax.cache.CacheManager;
import javax.cache.configuration.Configuration;
import javax.cache.configuration.MutableConfiguration;
import javax.cache.spi.CachingProvider;
import org.jspecify.annotations.Nullable;
import org.rowankv.driver.RowanClient;
import org.rowankv.jcache.codec.LoaderReference;
import org.rowankv.jcache.configuration.OpenConfiguration;
import org.rowankv.jcache.configuration.Setting;
import org.rowankv.jcache.configuration.StoreSettings;
import org.rowankv.jcache.configuration.Template;
import org.rowankv.jcache.configuration.Templates;
import org.rowankv.jcache.integration.BackgroundThreads;
import org.rowankv.jcache.store.SharedStore;
import org.rowankv.jcache.store.SharedStores;

/**
 * The caches that one application has open under one URI. Cache names are global in the store, shared by all its
 * managers; {@link #getCache} and {@link #getCacheNames} return only caches that this manager has open.
 *
 * <p>Closing it closes its caches and releases the store. Destroying a cache removes its entries, for all managers.
 * Thread-safe; references the class loader weakly.
 */
public final class RowanCacheManager implements CacheManager {
    private final CachingProvider provider;
    private final URI uri;
    private final LoaderReference loader;
    private final Properties properties;
    private final SharedStore store;
    private final ManagerResources resources;
    private final CacheFactory factory;
    private final Consumer<RowanCacheManager> whenClosed;
    private final Templates templates;
    private final Map<String, ManagedCache<?, ?>> caches = new ConcurrentHashMap<>();
    private volatile boolean closed;

    /** @param whenClosed called once, after everything is closed */
    public RowanCacheManager(
            CachingProvider provider,
            URI uri,
            ClassLoader loader,
            Properties properties,
            StoreSettings settings,
            SharedStores stores,
            Consumer<RowanCacheManager> whenClosed) {
        this.provider = provider;
        this.uri = uri;
        this.loader = new LoaderReference(loader);
        this.properties = copy(properties);
        this.whenClosed = whenClosed;
        this.templates = settings.templates();
        templates.checkTypes(loader);
        this.store = stores.acquire(settings);
        final BackgroundThreads threads = new BackgroundThreads(settings.count(Setting.BACKGROUND_THREADS), loader);
        this.resources = new ManagerResources(stores, store, threads);
        this.factory = new CacheFactory(this, store, this.loader, threads, settings);
    }

    private static Properties copy(Properties properties) {
        final Properties copy = new Properties();
        copy.putAll(properties);
        for (String name : properties.stringPropertyNames()) {
            copy.setProperty(name, properties.getProperty(name)); // includes their defaults
        }
        return copy;
    }

    private void requireOpen() {
        if (closed) {
            throw new IllegalStateException("the cache manager of " + uri + " is closed");
        }
    }

    @Override
    public CachingProvider getCachingProvider() {
        return provider;
    }

    @Override
    public URI getURI() {
        return uri;
    }

    @Override
    public ClassLoader getClassLoader() {
        return loader.get();
    }

    @Override
    public Properties getProperties() {
        return copy(properties);
    }

    /** What is released when this manager is closed, or is collected without. */
    public ManagerResources resources() {
        return resources;
    }

    /** The durability of acknowledged writes. */
    String durability() {
        return store.store().durability();
    }

    @Override
    public <K, V, C extends Configuration<K, V>> Cache<K, V> createCache(String cacheName, C configuration) {
        requireOpen();
        Objects.requireNonNull(cacheName, "cacheName");
        Objects.requireNonNull(configuration, "configuration");
        final Template template = templates.find(cacheName);
        final ManagedCache<K, V> cache = open(
                cacheName,
                new OpenConfiguration<>(template == null ? configuration : template.fill(configuration, loader.get())));
        if (cache == null) {
            throw alreadyOpen(cacheName);
        }
        return cache;
    }

    /** Opens the cache; null without any effect if the name is in use. */
    private <K, V> @Nullable ManagedCache<K, V> open(String cacheName, OpenConfiguration<K, V> configuration) {
        if (caches.containsKey(cacheName)) {
            return null;
        }
        final ManagedCache<K, V> cache;
        if (factory.isConnected()) {
            final CacheProxy<K, V> opened = factory.open(cacheName, configuration);
            if (caches.putIfAbsent(cacheName, opened) != null) {
                opened.close();
                return null;
            }
            opened.startOrClose();
            cache = opened;
        } else {
            cache = factory.openLater(cacheName, configuration);
            if (caches.putIfAbsent(cacheName, cache) != null) {
                return null;
            }
        }
        if (closed) {
            cache.close();
            requireOpen();
        }
        return cache;
    }

    private static CacheException alreadyOpen(String cacheName) {
        return new CacheException("a cache named " + cacheName + " is open in this cache manager already");
    }

    @Override
    public <K, V> @Nullable Cache<K, V> getCache(String cacheName, Class<K> keyType, Class<V> valueType) {
        requireOpen();
        Objects.requireNonNull(keyType, "keyType");
        Objects.requireNonNull(valueType, "valueType");
        final ManagedCache<K, V> cache = findOrCreate(cacheName, keyType, valueType);
        if (cache != null) {
            requireTypes(cacheName, cache.configuration(), keyType, valueType);
        }
        return cache;
    }

    private static void requireTypes(
            String cacheName, Configuration<?, ?> configuration, Class<?> keyType, Class<?> valueType) {
        requireType(cacheName, "key", configuration.getKeyType(), keyType);
        requireType(cacheName, "value", configuration.getValueType(), valueType);
    }

    private static void requireType(String cacheName, String what, Class<?> configured, Class<?> asked) {
        if (!configured.equals(asked)) {
            throw new ClassCastException("the " + what + "s of the cache " + cacheName + " are " + configured.getName()
                    + ", not " + asked.getName());
        }
    }

    @Override
    public <K, V> @Nullable Cache<K, V> getCache(String cacheName) {
        requireOpen();
        return findOrCreate(cacheName, null, null);
    }

    /**
     * The open cache; or one that a template creates; or null.
     *
     * @param keyType null if unspecified
     * @param valueType null if unspecified
     */
    private <K, V> @Nullable ManagedCache<K, V> findOrCreate(
            String cacheName, @Nullable Class<K> keyType, @Nullable Class<V> valueType) {
        ManagedCache<K, V> cache = find(cacheName);
        final Template template = cache == null ? templates.find(cacheName) : null;
        if (template == null || !template.creates()) {
            return cache;
        }
        final MutableConfiguration<K, V> filled = template.fill(new MutableConfiguration<>(), loader.get());
        if (keyType != null && valueType != null) {
            filled.setTypes(
                    isSpecified(filled.getKeyType()) ? filled.getKeyType() : keyType,
                    isSpecified(filled.getValueType()) ? filled.getValueType() : valueType);
            requireTypes(cacheName, filled, keyType, valueType); // before a cache of other types exists
        }
        final OpenConfiguration<K, V> configuration = new OpenConfiguration<>(filled);
        while (cache == null) {
            cache = open(cacheName, configuration);
            if (cache == null) {
                cache = find(cacheName); // another thread was faster, and may have closed it since
            }
        }
        return cache;
    }

    private static boolean isSpecified(Class<?> type) {
        return !type.equals(Object.class);
    }

    @SuppressWarnings("unchecked") // the caller states the types it opened the cache with
    private <K, V> @Nullable ManagedCache<K, V> find(String cacheName) {
        Objects.requireNonNull(cacheName, "cacheName");
        return (ManagedCache<K, V>) caches.get(cacheName);
    }

    @Override
    public Iterable<String> getCacheNames() {
        requireOpen();
        return Set.copyOf(new TreeSet<>(caches.keySet()));
    }

    @Override
    public void destroyCache(String cacheName) {
        requireOpen();
        Objects.requireNonNull(cacheName, "cacheName");
        final ManagedCache<?, ?> cache = caches.get(cacheName);
        if (cache != null) {
            cache.close();
        }
        factory.destroy(cacheName);
    }

    @Override
    public void enableManagement(String cacheName, boolean enabled) {
        requireOpen();
        final ManagedCache<?, ?> cache = find(cacheName);
        if (cache != null) {
            cache.enableManagement(enabled);
        }
    }

    @Override
    public void enableStatistics(String cacheName, boolean enabled) {
        requireOpen();
        final ManagedCache<?, ?> cache = find(cacheName);
        if (cache != null) {
            cache.enableStatistics(enabled);
        }
    }

    /** Removes a closed cache. */
    void closed(ManagedCache<?, ?> cache) {
        caches.computeIfPresent(cache.getName(), (name, open) -> open.standsFor(cache) ? null : open);
    }

    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
        }
        final CloseSequence closing = new CloseSequence();
        for (ManagedCache<?, ?> cache : List.copyOf(caches.values())) {
            closing.step(cache::close);
        }
        closing.step(resources::release).step(() -> whenClosed.accept(this)).finish();
    }

    @Override
    public boolean isClosed() {
        return closed;
    }

    @Override
    public <T> T unwrap(Class<T> type) {
        if (type.isInstance(this)) {
            return type.cast(this);
        }
        if (type == SharedStore.class) {
            return type.cast(store);
        }
        if (type.isAssignableFrom(RowanClient.class)) {
            return type.cast(store.store().client());
        }
        final T behind = store.store().unwrap(type);
        if (behind != null) {
            return behind;
        }
        throw new IllegalArgumentException("a cache manager of this provider is no " + type.getName());
    }
}
