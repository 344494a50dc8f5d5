package org.rowankv.spring;

import java.util.List;
import javax.cache.CacheManager;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.api.Catalogue;
import org.springframework.boot.actuate.health.AbstractHealthIndicator;
import org.springframework.boot.actuate.health.Health;

/**
 * UP while the store answers a read; DOWN if it has failed or is closed, or if the servers are not reached, which takes
 * half of the setting operation-timeout. Thread-safe.
 */
final class RowanHealthIndicator extends AbstractHealthIndicator {
    /** No key of JCache is encoded so. */
    private static final byte[] NO_KEY = {0};

    private final CacheManager manager;

    RowanHealthIndicator(CacheManager manager) {
        super("the caches cannot be reached");
        this.manager = manager;
    }

    @Override
    protected void doHealthCheck(Health.Builder builder) {
        if (manager.isClosed()) {
            builder.down().withDetail("error", "the cache manager is closed");
            return;
        }
        final RowanClient client = manager.unwrap(RowanClient.class);
        final List<Catalogue.CacheRecord> caches = client.catalogue().list();
        if (!caches.isEmpty()) {
            client.get(caches.get(0).id(), NO_KEY); // a store that has failed still knows its caches
        }
        builder.up()
                .withDetail("uri", String.valueOf(manager.getURI()))
                .withDetail("caches", caches.size())
                .withDetail("reconnects", client.reconnects());
    }
}
