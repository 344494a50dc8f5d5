package org.rowankv.jcache.operation;

import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.function.BooleanSupplier;
import org.rowankv.driver.ScanCursor;
import org.rowankv.driver.api.RowanException;

/** Walks a cache's keys page by page; no value is fetched, and no access takes place. Used by one thread at a time. */
public final class KeyIterator<K, V> implements Iterator<K> {
    private final CacheBinding<K, V> opening;
    private final BooleanSupplier closed;
    private final ScanCursor cursor;

    public KeyIterator(CacheBinding<K, V> opening, BooleanSupplier closed) {
        this.opening = opening;
        this.closed = closed;
        this.cursor = opening.scan(false);
    }

    @Override
    public boolean hasNext() {
        if (closed.getAsBoolean()) {
            throw new IllegalStateException("the cache " + opening.name() + " is closed");
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
        return opening.key(cursor.next().key());
    }
}
