package org.rowankv.jcache.integration;

import java.io.Closeable;
import java.io.IOException;
import java.util.Collection;
import javax.cache.Cache;
import javax.cache.integration.CacheWriter;
import javax.cache.integration.CacheWriterException;
import org.jspecify.annotations.Nullable;

/**
 * A cache's writer, called before the cache changes; whatever it throws arrives as a {@link CacheWriterException}, but for
 * errors. Thread-safe, if the writer is.
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

    /** Writes all; what is left in the collection afterwards was not written, and then the failure is returned. */
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

    /** Deletes all; what is left in the collection afterwards was not deleted, and then the failure is returned. */
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
