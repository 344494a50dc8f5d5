package org.rowankv.jcache.store;

import org.rowankv.jcache.configuration.StoreSettings;

/** Opens stores. Thread-safe. */
@FunctionalInterface
public interface StoreOpener {
    /**
     * Opens the store that the settings name; called once for each identity until that store is closed.
     *
     * @throws javax.cache.CacheException when it cannot be opened, saying why
     */
    Store open(StoreSettings settings);
}
