package org.rowankv.jcache.spi;

import javax.cache.CacheException;
import org.rowankv.jcache.cluster.ClusterStores;
import org.rowankv.jcache.configuration.StoreSettings;
import org.rowankv.jcache.embedded.EmbeddedStores;
import org.rowankv.jcache.store.Store;
import org.rowankv.jcache.store.StoreOpener;

/**
 * Opener of the kind of store that the settings name. An application with remote servers only may omit the engine from
 * its class path: engine classes load with the first embedded store. Thread-safe.
 */
final class StoresByKind implements StoreOpener {
    private static final String ENGINE = "org.rowankv.server.embedded.EmbeddedCluster";

    private final StoreOpener cluster = new ClusterStores();

    @Override
    public Store open(StoreSettings settings) {
        if (!settings.addresses().isEmpty()) {
            return cluster.open(settings);
        }
        requireEngine();
        return new EmbeddedStores().open(settings);
    }

    @Override
    public StoreSettings complete(StoreSettings given) {
        if (!given.addresses().isEmpty()) {
            return given;
        }
        requireEngine();
        return new EmbeddedStores().complete(given);
    }

    private static void requireEngine() {
        try {
            Class.forName(ENGINE, false, StoresByKind.class.getClassLoader());
        } catch (ClassNotFoundException e) {
            throw new CacheException(
                    "rowan:embedded needs the engine, which is not on the class path: add the artifact org.rowankv:rowan-server,"
                            + " of the version that rowan-jcache has; or name the servers of a cluster: rowan://HOST:PORT",
                    e);
        }
    }
}
