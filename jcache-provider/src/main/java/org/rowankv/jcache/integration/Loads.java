package org.rowankv.jcache.integration;

import java.io.Closeable;
import java.io.IOException;
import java.util.Collection;
import java.util.Map;
import javax.cache.integration.CacheLoader;
import javax.cache.integration.CacheLoaderException;
import org.jspecify.annotations.Nullable;

/** A cache's loader; whatever it throws arrives as a {@link CacheLoaderException}, but for errors. Thread-safe, if it is. */
public final class Loads<K, V> implements Closeable {
    private final CacheLoader<K, V> loader;

    public Loads(CacheLoader<K, V> loader) {
        this.loader = loader;
    }

    /** The value, or null when there is none to load. */
    public @Nullable V load(K key) {
        try {
            return loader.load(key);
        } catch (CacheLoaderException e) {
            throw e;
        } catch (RuntimeException e) {
            throw new CacheLoaderException("the loader failed", e);
        }
    }

    /** The values that there are; keys without one may be missing or map to null. */
    public Map<K, V> loadAll(Collection<? extends K> keys) {
        final Map<K, V> loaded;
        try {
            loaded = loader.loadAll(keys);
        } catch (CacheLoaderException e) {
            throw e;
        } catch (RuntimeException e) {
            throw new CacheLoaderException("the loader failed", e);
        }
        if (loaded == null) {
            throw new CacheLoaderException("the loader returned null instead of a map");
        }
        return loaded;
    }

    @Override
    public void close() throws IOException {
        if (loader instanceof Closeable closeable) {
            closeable.close();
        }
    }
}
