package org.rowankv.micrometer;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.binder.MeterBinder;
import javax.cache.CacheException;
import javax.cache.CacheManager;
import org.jspecify.annotations.Nullable;
import org.rowankv.driver.RowanClient;

/**
 * Meters of the store behind a cache manager. {@code rowan.client.reconnects} counts connections to servers that were
 * established again. With servers in this JVM, {@code rowan.store.limit} and {@code rowan.store.available} are bytes of
 * live entries, summed over the servers, {@code rowan.store.entries} the entries in their indexes, replicas included,
 * and {@code rowan.store.evictions} and {@code rowan.store.expirations} the objects that ended so. A cluster's servers
 * have metrics of their own. Holds the manager weakly. Thread-safe.
 */
public final class RowanStoreMetrics implements MeterBinder {
    private final CacheManager manager;
    private final Iterable<Tag> tags;

    /**
     * @param tags of every meter
     * @throws IllegalArgumentException if the manager is of another provider
     */
    public RowanStoreMetrics(CacheManager manager, Iterable<Tag> tags) {
        final RowanClient unused = client(manager);
        this.manager = manager;
        this.tags = tags;
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        FunctionCounter.builder("rowan.client.reconnects", manager, RowanStoreMetrics::reconnects)
                .tags(tags)
                .description("The number of connections to servers that were established again")
                .register(registry);
        final RowanClient client = client(manager);
        if (client != null && !client.isRemote()) {
            ServersInThisJvm.bind(registry, manager, tags);
        }
    }

    private static double reconnects(CacheManager manager) {
        final RowanClient client = client(manager);
        return client == null ? 0 : client.reconnects();
    }

    /** Null while a cluster is not reached that may be reached later, and after the manager has closed. */
    private static @Nullable RowanClient client(CacheManager manager) {
        try {
            return manager.unwrap(RowanClient.class);
        } catch (CacheException | IllegalStateException e) {
            return null;
        }
    }
}
