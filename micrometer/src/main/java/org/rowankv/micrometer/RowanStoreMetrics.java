package org.rowankv.micrometer;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.binder.MeterBinder;
import javax.cache.CacheManager;
import org.rowankv.driver.RowanClient;

/**
 * Meters of the store behind a cache manager. {@code rowan.client.reconnects} counts connections to servers that were
 * established again. With servers in this JVM, {@code rowan.store.limit} and {@code rowan.store.available} are bytes of
 * live entries, summed over the servers, {@code rowan.store.entries} the entries in their indexes, replicas included,
 * and {@code rowan.store.evictions} and {@code rowan.store.expirations} the objects that ended so. A cluster's servers
 * have metrics of their own. Holds the client weakly. Thread-safe.
 */
public final class RowanStoreMetrics implements MeterBinder {
    private final CacheManager manager;
    private final Iterable<Tag> tags;

    /**
     * @param tags of every meter
     * @throws IllegalArgumentException if the manager is of another provider
     */
    public RowanStoreMetrics(CacheManager manager, Iterable<Tag> tags) {
        manager.unwrap(RowanClient.class);
        this.manager = manager;
        this.tags = tags;
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        final RowanClient client = manager.unwrap(RowanClient.class);
        FunctionCounter.builder("rowan.client.reconnects", client, RowanClient::reconnects)
                .tags(tags)
                .description("The number of connections to servers that were established again")
                .register(registry);
        if (!client.isRemote()) {
            ServersInThisJvm.bind(registry, manager, tags);
        }
    }
}
