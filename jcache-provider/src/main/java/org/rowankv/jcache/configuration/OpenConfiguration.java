package org.rowankv.jcache.configuration;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.cache.configuration.CacheEntryListenerConfiguration;
import javax.cache.configuration.CompleteConfiguration;
import javax.cache.configuration.Configuration;
import javax.cache.configuration.Factory;
import javax.cache.configuration.MutableConfiguration;
import javax.cache.expiry.ExpiryPolicy;
import javax.cache.integration.CacheLoader;
import javax.cache.integration.CacheWriter;
import org.jspecify.annotations.Nullable;

/**
 * Configuration of an open cache: a private copy of the given one. Manager and cache update its statistics and
 * management flags and its listeners. Thread-safe.
 */
public final class OpenConfiguration<K, V> implements CompleteConfiguration<K, V> {
    private static final long serialVersionUID = 1L;

    private final MutableConfiguration<K, V> given;
    private final CopyOnWriteArrayList<CacheEntryListenerConfiguration<K, V>> listeners = new CopyOnWriteArrayList<>();
    private volatile boolean statisticsEnabled;
    private volatile boolean managementEnabled;

    public OpenConfiguration(Configuration<K, V> configuration) {
        given = copyOf(configuration);
        if (configuration instanceof CompleteConfiguration<K, V> complete) {
            complete.getCacheEntryListenerConfigurations().forEach(listeners::add);
        }
        statisticsEnabled = given.isStatisticsEnabled();
        managementEnabled = given.isManagementEnabled();
    }

    /** A copy, with the JSR's defaults for missing parts. */
    static <K, V> MutableConfiguration<K, V> copyOf(Configuration<K, V> configuration) {
        if (configuration instanceof CompleteConfiguration<K, V> complete) {
            return new MutableConfiguration<>(complete);
        }
        return new MutableConfiguration<K, V>()
                .setTypes(configuration.getKeyType(), configuration.getValueType())
                .setStoreByValue(configuration.isStoreByValue());
    }

    public void enableStatistics(boolean enabled) {
        statisticsEnabled = enabled;
    }

    public void enableManagement(boolean enabled) {
        managementEnabled = enabled;
    }

    public void addListener(CacheEntryListenerConfiguration<K, V> listener) {
        listeners.add(listener);
    }

    public void removeListener(CacheEntryListenerConfiguration<K, V> listener) {
        listeners.remove(listener);
    }

    @Override
    public Class<K> getKeyType() {
        return given.getKeyType();
    }

    @Override
    public Class<V> getValueType() {
        return given.getValueType();
    }

    @Override
    public boolean isStoreByValue() {
        return given.isStoreByValue();
    }

    @Override
    public boolean isReadThrough() {
        return given.isReadThrough();
    }

    @Override
    public boolean isWriteThrough() {
        return given.isWriteThrough();
    }

    @Override
    public boolean isStatisticsEnabled() {
        return statisticsEnabled;
    }

    @Override
    public boolean isManagementEnabled() {
        return managementEnabled;
    }

    @Override
    public Iterable<CacheEntryListenerConfiguration<K, V>> getCacheEntryListenerConfigurations() {
        return List.copyOf(listeners);
    }

    @Override
    @SuppressWarnings("NullAway") // the JSR returns null, its signature does not allow it
    public Factory<CacheLoader<K, V>> getCacheLoaderFactory() {
        return given.getCacheLoaderFactory();
    }

    @Override
    @SuppressWarnings("NullAway") // the JSR returns null, its signature does not allow it
    public Factory<CacheWriter<? super K, ? super V>> getCacheWriterFactory() {
        return given.getCacheWriterFactory();
    }

    @Override
    public Factory<ExpiryPolicy> getExpiryPolicyFactory() {
        return given.getExpiryPolicyFactory();
    }

    /** The loader's factory, or null. */
    public @Nullable Factory<CacheLoader<K, V>> loaderFactory() {
        return given.getCacheLoaderFactory();
    }

    /** The writer's factory, or null. */
    public @Nullable Factory<CacheWriter<? super K, ? super V>> writerFactory() {
        return given.getCacheWriterFactory();
    }
}
