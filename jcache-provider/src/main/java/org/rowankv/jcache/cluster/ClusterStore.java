package org.rowankv.jcache.cluster;

import org.jspecify.annotations.Nullable;
import org.rowankv.driver.RowanClient;
import org.rowankv.jcache.store.Store;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.SystemClock;

/** Store whose servers run in other processes. Thread-safe. */
final class ClusterStore implements Store {
    private final RowanClient client;

    ClusterStore(RowanClient client) {
        this.client = client;
    }

    @Override
    public RowanClient client() {
        return client;
    }

    @Override
    public String durability() {
        return "as the servers were started";
    }

    @Override
    public Clock clock() {
        return SystemClock.INSTANCE;
    }

    @Override
    public <T> @Nullable T unwrap(Class<T> type) {
        return null;
    }

    @Override
    public void close() {
        client.close();
    }
}
