package org.rowankv.jcache;

import org.rowankv.jcache.configuration.OpenConfiguration;

/** A cache that its manager has open. Thread-safe. */
abstract class ManagedCache<K, V> extends AsyncCacheOperations<K, V> {
    abstract OpenConfiguration<K, V> configuration();

    abstract void enableStatistics(boolean enabled);

    abstract void enableManagement(boolean enabled);

    /** Whether this is that cache, or stands for it. */
    boolean standsFor(ManagedCache<?, ?> cache) {
        return cache == this;
    }
}
