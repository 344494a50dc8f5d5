package org.rowankv.jcache.event;

import java.io.Closeable;
import java.io.IOException;
import javax.cache.CacheException;
import javax.cache.configuration.CacheEntryListenerConfiguration;
import javax.cache.configuration.Factory;
import javax.cache.event.CacheEntryEventFilter;
import javax.cache.event.CacheEntryListener;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A listener and its filter, created by the factories of a configuration. Immutable. */
public record Registration<K, V>(
        CacheEntryListenerConfiguration<K, V> configuration,
        CacheEntryListener<? super K, ? super V> listener,
        @Nullable CacheEntryEventFilter<? super K, ? super V> filter)
        implements Closeable {
    private static final Logger LOG = LoggerFactory.getLogger(Registration.class);

    /** Calls the factories. Propagates their exceptions, and closes what they have created by then. */
    public static <K, V> Registration<K, V> of(CacheEntryListenerConfiguration<K, V> configuration) {
        final CacheEntryListener<? super K, ? super V> listener =
                create("listener", configuration.getCacheEntryListenerFactory());
        final Factory<CacheEntryEventFilter<? super K, ? super V>> filters =
                configuration.getCacheEntryEventFilterFactory();
        boolean complete = false;
        try {
            final CacheEntryEventFilter<? super K, ? super V> filter =
                    filters == null ? null : create("listener's filter", filters);
            complete = true;
            return new Registration<>(configuration, listener, filter);
        } finally {
            if (!complete) {
                closeUnused(listener);
            }
        }
    }

    private static <T> T create(String what, Factory<T> factory) {
        final T created = factory.create();
        if (created == null) {
            throw new CacheException("the factory of a " + what + " returned null");
        }
        return created;
    }

    private static void closeUnused(CacheEntryListener<?, ?> listener) {
        if (listener instanceof Closeable closeable) {
            try {
                closeable.close();
            } catch (IOException | RuntimeException e) {
                LOG.warn("ROWAN-1108 Closing an unregistered listener failed", e);
            }
        }
    }

    /** Closes listener and filter if they are Closeable. */
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
