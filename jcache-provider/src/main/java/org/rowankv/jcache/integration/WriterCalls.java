package org.rowankv.jcache.integration;

import java.io.Closeable;
import java.io.IOException;
import java.util.Collection;
import javax.cache.Cache;
import javax.cache.integration.CacheWriter;
import javax.cache.integration.CacheWriterException;
import org.jspecify.annotations.Nullable;

/**
 * Adapter of a cache's writer, called before the cache changes; wraps every exception but errors in a {@link
 * CacheWriterException}. Thread-safe if the writer is.
 */
public final class WriterCalls<K, V> implements Closeable {
    private final CacheWriter<K, V> writer;

    @SuppressWarnings("unchecked") // a writer of supertypes writes K and V
    public WriterCalls(CacheWriter<? super K, ? super V> writer) {
        this.writer = (CacheWriter<K, V>) writer;
    }

    public void write(K key, V value) {
        try {
            writer.write(new WrittenEntry<>(key, value));
        } catch (CacheWriterException e) {
            throw e;
        } catch (RuntimeException e) {
            throw new CacheWriterException("the writer failed", e);
        }
    }

    public void delete(K key) {
        try {
            writer.delete(key);
        } catch (CacheWriterException e) {
            throw e;
        } catch (RuntimeException e) {
            throw new CacheWriterException("the writer failed", e);
        }
    }

    /** Writes all; on failure returns it, and the collection contains the unwritten entries. */
    public @Nullable CacheWriterException writeAll(Collection<Cache.Entry<? extends K, ? extends V>> entries) {
        try {
            writer.writeAll(entries);
            return null;
        } catch (CacheWriterException e) {
            return e;
        } catch (RuntimeException e) {
            return new CacheWriterException("the writer failed", e);
        }
    }

    /** Deletes all; on failure returns it, and the collection contains the keys not deleted. */
    public @Nullable CacheWriterException deleteAll(Collection<?> keys) {
        try {
            writer.deleteAll(keys);
            return null;
        } catch (CacheWriterException e) {
            return e;
        } catch (RuntimeException e) {
            return new CacheWriterException("the writer failed", e);
        }
    }

    @Override
    public void close() throws IOException {
        if (writer instanceof Closeable closeable) {
            closeable.close();
        }
    }
}
