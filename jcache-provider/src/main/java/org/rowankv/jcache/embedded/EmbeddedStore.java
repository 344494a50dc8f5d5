package org.rowankv.jcache.embedded;

import org.jspecify.annotations.Nullable;
import org.rowankv.driver.RowanClient;
import org.rowankv.jcache.store.Store;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.SecureSeed;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.embedded.EmbeddedCluster;

/** Store with servers in this JVM, and its client. Thread-safe. */
final class EmbeddedStore implements Store {
    private final EmbeddedCluster cluster;
    private final RowanClient client;

    EmbeddedStore(EmbeddedCluster cluster) {
        this.cluster = cluster;
        this.client = new RowanClient(cluster.session(), SystemClock.INSTANCE, SecureSeed.source());
    }

    @Override
    public RowanClient client() {
        return client;
    }

    @Override
    public String durability() {
        return cluster.durability();
    }

    @Override
    public Clock clock() {
        return SystemClock.INSTANCE;
    }

    @Override
    public <T> @Nullable T unwrap(Class<T> type) {
        return type.isInstance(cluster) ? type.cast(cluster) : null;
    }

    @Override
    public void close() {
        try {
            client.close();
        } finally {
            cluster.close();
        }
    }
}
