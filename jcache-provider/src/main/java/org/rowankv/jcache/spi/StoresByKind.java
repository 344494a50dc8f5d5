package org.rowankv.jcache.spi;

import org.rowankv.jcache.cluster.ClusterStores;
import org.rowankv.jcache.configuration.StoreSettings;
import org.rowankv.jcache.embedded.EmbeddedStores;
import org.rowankv.jcache.store.Store;
import org.rowankv.jcache.store.StoreOpener;

/** Opens whatever kind of store the settings name. Thread-safe. */
final class StoresByKind implements StoreOpener {
    private final StoreOpener embedded = new EmbeddedStores();
    private final StoreOpener cluster = new ClusterStores();

    @Override
    public Store open(StoreSettings settings) {
        return (settings.addresses().isEmpty() ? embedded : cluster).open(settings);
    }
}
