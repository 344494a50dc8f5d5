package org.rowankv.jcache.event;

import java.io.Closeable;
import java.io.IOException;
import javax.cache.configuration.CacheEntryListenerConfiguration;
import javax.cache.configuration.Factory;
import javax.cache.event.CacheEntryEventFilter;
import javax.cache.event.CacheEntryListener;
import org.jspecify.annotations.Nullable;

/** A listener and its filter, made by the factories of a configuration. Immutable. */
public record Registration<K, V>(
        CacheEntryListenerConfiguration<K, V> configuration,
        CacheEntryListener<? super K, ? super V> listener,
        @Nullable CacheEntryEventFilter<? super K, ? super V> filter)
        implements Closeable {
    /** Calls the factories; what they throw passes. */
    public static <K, V> Registration<K, V> of(CacheEntryListenerConfiguration<K, V> configuration) {
        final CacheEntryListener<? super K, ? super V> listener =
                configuration.getCacheEntryListenerFactory().create();
        final Factory<CacheEntryEventFilter<? super K, ? super V>> filters =
                configuration.getCacheEntryEventFilterFactory();
        return new Registration<>(configuration, listener, filters == null ? null : filters.create());
    }

    /** Closes listener and filter where they are Closeable. */
    @Override
    public void close() throws IOException {
        try {
            if (listener instanceof Closeable closeable) {
                closeable.close();
            }
        } finally {
            if (filter instanceof Closeable closeable) {
                closeable.close();
            }
        }
    }
}
