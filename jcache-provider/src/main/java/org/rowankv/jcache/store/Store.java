package org.rowankv.jcache.store;

import org.jspecify.annotations.Nullable;
import org.rowankv.driver.RowanClient;
import org.rowankv.runtime.Clock;

/** An open store of any kind, as the cache layer uses it. Thread-safe. */
public interface Store extends AutoCloseable {
    /** @throws javax.cache.CacheException while the store is not connected */
    RowanClient client();

    /** False only until servers are reached that were unreachable when the store was opened. */
    default boolean isConnected() {
        return true;
    }

    /** The durability of acknowledged writes, as a sentence. */
    String durability();

    /** Clock of the statistics. */
    Clock clock();

    /** The underlying object of that type, for access below the cache API; null if there is none. */
    <T> @Nullable T unwrap(Class<T> type);

    /** Closes the store; called once, by its last user. */
    @Override
    void close();
}
