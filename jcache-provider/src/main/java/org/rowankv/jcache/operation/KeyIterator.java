package org.rowankv.jcache.operation;

import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.function.BooleanSupplier;
import org.rowankv.driver.ScanCursor;
import org.rowankv.driver.api.RowanException;

/** Iterator over a cache's keys, page by page; reads no values and causes no accesses. Used by one thread at a time. */
public final class KeyIterator<K, V> implements Iterator<K> {
    private final CacheBinding<K, V> binding;
    private final BooleanSupplier closed;
    private final ScanCursor cursor;

    public KeyIterator(CacheBinding<K, V> binding, BooleanSupplier closed) {
        this.binding = binding;
        this.closed = closed;
        this.cursor = binding.scan(false);
    }

    @Override
    public boolean hasNext() {
        if (closed.getAsBoolean()) {
            throw new IllegalStateException("the cache " + binding.name() + " is closed");
        }
        try {
            return cursor.hasNext();
        } catch (RowanException e) {
            throw ExceptionMapping.of(e);
        }
    }

    @Override
    public K next() {
        if (!hasNext()) {
            throw new NoSuchElementException("the cache has no more keys");
        }
        return binding.key(cursor.next().key());
    }
}
