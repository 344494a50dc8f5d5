package org.rowankv.jcache.integration;

import java.io.Closeable;
import java.io.IOException;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import javax.cache.integration.CacheLoader;
import javax.cache.integration.CacheLoaderException;
import org.jspecify.annotations.Nullable;

/**
 * Adapter of a cache's loader: wraps every exception but errors in a {@link CacheLoaderException}. Thread-safe if the
 * loader is.
 */
public final class LoaderCalls<K, V> implements Closeable {
    private static final long CLOSE_TIMEOUT_MS = 5_000;

    /** Read lock for calls, write lock for the close. */
    private final ReentrantReadWriteLock calls = new ReentrantReadWriteLock();

    private volatile boolean closed;
    private final CacheLoader<K, V> loader;

    public LoaderCalls(CacheLoader<K, V> loader) {
        this.loader = loader;
    }

    /** The value, or null if there is none. */
    public @Nullable V load(K key) {
        begin();
        try {
            return loader.load(key);
        } catch (CacheLoaderException e) {
            throw e;
        } catch (RuntimeException e) {
            throw new CacheLoaderException("the loader failed", e);
        } finally {
            calls.readLock().unlock();
        }
    }

    /** Refuses calls of a closed loader. */
    private void begin() {
        calls.readLock().lock();
        if (closed) {
            calls.readLock().unlock();
            throw new CacheLoaderException("the cache of this loader is closed");
        }
    }

    /** The available values; keys without one may be missing or map to null. */
    public Map<K, V> loadAll(Collection<? extends K> keys) {
        final Map<K, V> loaded;
        begin();
        try {
            loaded = loader.loadAll(keys);
        } catch (CacheLoaderException e) {
            throw e;
        } catch (RuntimeException e) {
            throw new CacheLoaderException("the loader failed", e);
        } finally {
            calls.readLock().unlock();
        }
        if (loaded == null) {
            throw new CacheLoaderException("the loader returned null instead of a map");
        }
        return loaded;
    }

    /**
     * Waits for calls in progress, at most {@value #CLOSE_TIMEOUT_MS} ms: a hanging call delays the close no longer.
     */
    @Override
    public void close() throws IOException {
        closed = true;
        if (loader instanceof Closeable closeable) {
            final boolean alone = awaitCalls();
            try {
                closeable.close();
            } finally {
                if (alone) {
                    calls.writeLock().unlock();
                }
            }
        }
    }

    private boolean awaitCalls() {
        if (calls.getReadHoldCount() > 0) {
            return false; // closed by the loader itself
        }
        try {
            return calls.writeLock().tryLock(CLOSE_TIMEOUT_MS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
