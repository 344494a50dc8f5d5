package org.rowankv.micrometer;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.ArrayList;
import java.util.List;
import javax.cache.CacheException;
import javax.cache.CacheManager;
import org.jspecify.annotations.Nullable;
import org.rowankv.driver.RowanClient;

/**
 * Meters of the store behind a cache manager. {@code rowan.client.reconnects} counts connections to servers that were
 * established again. With servers in this JVM, {@code rowan.store.limit} and {@code rowan.store.available} are bytes of
 * live entries, summed over the servers, {@code rowan.store.entries} the entries in their indexes, replicas included,
 * and {@code rowan.store.evictions} and {@code rowan.store.expirations} the objects that ended so. A cluster's servers
 * have metrics of their own. Holds the manager weakly; the meters of a closed one are replaced. Thread-safe.
 */
public final class RowanStoreMetrics implements MeterBinder {
    private final CacheManager manager;
    private final Tags tags;

    /**
     * @param tags of every meter
     * @throws IllegalArgumentException if the manager is of another provider
     */
    public RowanStoreMetrics(CacheManager manager, Iterable<Tag> tags) {
        final RowanClient unused = client(manager);
        this.manager = manager;
        this.tags = Tags.of(tags);
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        BoundMeters.of(registry).bind(getClass(), tags, manager, each -> meters(registry, each));
    }

    private List<Meter.Id> meters(MeterRegistry registry, CacheManager of) {
        final List<Meter.Id> meters = new ArrayList<>();
        meters.add(FunctionCounter.builder("rowan.client.reconnects", of, RowanStoreMetrics::reconnects)
                .tags(tags)
                .description("The number of connections to servers that were established again")
                .register(registry)
                .getId());
        final RowanClient client = client(of);
        if (client != null && !client.isRemote()) {
            meters.addAll(ServersInThisJvm.bind(registry, of, tags));
        }
        return meters;
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
