package org.rowankv.jcache.store;

import org.rowankv.jcache.configuration.StoreSettings;

/** Opener of stores. Thread-safe. */
@FunctionalInterface
public interface StoreOpener {
    /**
     * Opens the store that the settings name; called once per identity until that store closes.
     *
     * @throws javax.cache.CacheException if it cannot be opened; the message says why
     */
    Store open(StoreSettings settings);

    /**
     * The settings, completed by those that an existing store was made with.
     *
     * @throws javax.cache.CacheException if one that is given is another
     */
    default StoreSettings complete(StoreSettings given) {
        return given;
    }
}
