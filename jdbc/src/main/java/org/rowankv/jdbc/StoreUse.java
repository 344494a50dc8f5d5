package org.rowankv.jdbc;

import java.net.URI;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import javax.cache.CacheException;
import javax.cache.CacheManager;
import org.jspecify.annotations.Nullable;
import org.rowankv.jcache.spi.RowanCachingProvider;
import org.rowankv.jcache.store.SharedStore;

/**
 * The use of a store by connections of one URI: the first opens it, the last closes it. Cache managers of the
 * application on the same store share it. Thread-safe.
 */
final class StoreUse {
    private static final RowanCachingProvider PROVIDER = new RowanCachingProvider();
    private static final ReentrantLock LOCK = new ReentrantLock();
    private static final Map<Key, StoreUse> OPEN = new HashMap<>();

    private record Key(URI uri, ClassLoader loader) {}

    private final Key key;
    private final CacheManager manager;
    /** Guarded by {@link #LOCK}. */
    private int users;

    private StoreUse(Key key, CacheManager manager) {
        this.key = key;
        this.manager = manager;
    }

    static StoreUse acquire(ConnectionUrl url, ClassLoader loader) throws SQLException {
        final Key key = new Key(url.store(), loader);
        LOCK.lock();
        try {
            @Nullable StoreUse use = OPEN.get(key);
            if (use == null) {
                use = new StoreUse(key, PROVIDER.getCacheManager(url.store(), loader, url.settings()));
                OPEN.put(key, use);
            }
            use.users++;
            return use;
        } catch (CacheException e) {
            throw new SQLException("the store of " + url.text() + " cannot be used: " + e.getMessage(), "08001", e);
        } finally {
            LOCK.unlock();
        }
    }

    SharedStore store() {
        return manager.unwrap(SharedStore.class);
    }

    void release() {
        LOCK.lock();
        try {
            if (--users == 0) {
                OPEN.remove(key);
                manager.close();
            }
        } finally {
            LOCK.unlock();
        }
    }
}
