package org.rowankv.jcache.spi;

import java.net.URI;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicReference;
import javax.cache.CacheManager;
import javax.cache.configuration.OptionalFeature;
import javax.cache.spi.CachingProvider;
import org.jspecify.annotations.Nullable;
import org.rowankv.jcache.RowanCacheManager;
import org.rowankv.jcache.configuration.SettingSources;
import org.rowankv.jcache.configuration.StoreSettings;
import org.rowankv.jcache.store.SharedStores;
import org.rowankv.jcache.store.StoreOpener;

/**
 * Provider of cache managers, one per URI and class loader until it closes. Managers whose URIs and properties name the
 * same store share it. A closed provider is reusable. Thread-safe.
 */
public class RowanCachingProvider implements CachingProvider {
    /** Static, because {@link javax.cache.Caching} creates a provider per class loader. */
    private static final SharedStores STORES = new SharedStores(new StoresByKind());

    private final SharedStores stores;
    private final ManagerRegistry managers = new ManagerRegistry();
    private final AtomicReference<@Nullable URI> defaultUri = new AtomicReference<>();

    /** For {@link java.util.ServiceLoader}. */
    public RowanCachingProvider() {
        this.stores = STORES;
    }

    /** Creates a provider over stores that no other provider shares. */
    protected RowanCachingProvider(StoreOpener opener) {
        this.stores = new SharedStores(opener);
    }

    @Override
    public CacheManager getCacheManager(
            @Nullable URI uri, @Nullable ClassLoader classLoader, @Nullable Properties properties) {
        final URI managerUri = uri == null ? getDefaultURI() : uri;
        final ClassLoader managerLoader = classLoader == null ? getDefaultClassLoader() : classLoader;
        final Properties managerProperties = properties == null ? getDefaultProperties() : properties;
        return managers.get(managerUri, managerLoader, whenClosed -> {
            final StoreSettings settings =
                    StoreSettings.of(managerUri, SettingSources.ofProcess(managerProperties, managerLoader));
            return new RowanCacheManager(
                    this, managerUri, managerLoader, managerProperties, settings, stores, whenClosed);
        });
    }

    @Override
    public CacheManager getCacheManager(@Nullable URI uri, @Nullable ClassLoader classLoader) {
        return getCacheManager(uri, classLoader, null);
    }

    @Override
    public CacheManager getCacheManager() {
        return getCacheManager(null, null, null);
    }

    @Override
    public ClassLoader getDefaultClassLoader() {
        final ClassLoader own = getClass().getClassLoader();
        return own == null ? ClassLoader.getSystemClassLoader() : own;
    }

    /** As the system, the environment and the class path say at the first call; the same from then on. */
    @Override
    public URI getDefaultURI() {
        final URI known = defaultUri.get();
        if (known != null) {
            return known;
        }
        final URI found =
                StoreSettings.defaultUri(SettingSources.ofProcess(getDefaultProperties(), getDefaultClassLoader()));
        return defaultUri.compareAndSet(null, found) ? found : getDefaultURI();
    }

    @Override
    public Properties getDefaultProperties() {
        return new Properties();
    }

    @Override
    public void close() {
        managers.closeAll();
    }

    @Override
    public void close(@Nullable ClassLoader classLoader) {
        managers.close(classLoader == null ? getDefaultClassLoader() : classLoader);
    }

    @Override
    public void close(@Nullable URI uri, @Nullable ClassLoader classLoader) {
        managers.close(
                uri == null ? getDefaultURI() : uri, classLoader == null ? getDefaultClassLoader() : classLoader);
    }

    /** Entries are bytes on servers, so store-by-reference is impossible. */
    @Override
    public boolean isSupported(OptionalFeature optionalFeature) {
        return false;
    }
}
