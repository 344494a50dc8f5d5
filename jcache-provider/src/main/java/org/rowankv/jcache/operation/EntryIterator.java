package org.rowankv.jcache.operation;

import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.function.BooleanSupplier;
import javax.cache.Cache;
import org.jspecify.annotations.Nullable;
import org.rowankv.driver.ScanCursor;
import org.rowankv.driver.api.RowanException;
import org.rowankv.driver.api.ScanPage;
import org.rowankv.jcache.codec.ByteSink;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;

/**
 * Walks a cache in pages. Not a snapshot: an entry that is there all the time is seen once, one that comes or goes
 * meanwhile perhaps. Never returns null or an entry that had expired when {@link #hasNext} or {@link #next} looked for it.
 * Used by one thread.
 */
public final class EntryIterator<K, V> implements Iterator<Cache.Entry<K, V>> {
    private final CacheBinding<K, V> opening;
    private final Reads<K, V> reads;
    private final Mutations<K, V> mutations;
    private final BooleanSupplier closed;
    private final boolean canExpire;
    private final ScanCursor cursor;
    private byte @Nullable [] nextKey;
    private @Nullable VersionedEntry<K, V> next;
    private @Nullable VersionedEntry<K, V> current;

    public EntryIterator(
            CacheBinding<K, V> opening, Reads<K, V> reads, Mutations<K, V> mutations, BooleanSupplier closed) {
        this.opening = opening;
        this.reads = reads;
        this.mutations = mutations;
        this.closed = closed;
        this.canExpire = !opening.lifetimes().isEternal();
        this.cursor = opening.scan(!canExpire);
    }

    private void requireOpen() {
        if (closed.getAsBoolean()) {
            throw new IllegalStateException("the cache " + opening.name() + " is closed");
        }
    }

    @Override
    public boolean hasNext() {
        requireOpen();
        try {
            while (next == null && cursor.hasNext()) {
                final ScanPage.Entry found = cursor.next();
                nextKey = found.key();
                next = canExpire ? reread(found.key()) : entryOf(found);
            }
        } catch (RowanException e) {
            throw ExceptionMapping.of(e);
        }
        return next != null;
    }

    private VersionedEntry<K, V> entryOf(ScanPage.Entry found) {
        final byte[] value = found.value();
        if (value == null) {
            throw new IllegalStateException("a scan with values returned an entry without");
        }
        return new VersionedEntry<>(opening.key(found.key()), opening.value(value), found.version());
    }

    /** The entry as it is now, not yet accessed, or null when it is gone. */
    private @Nullable VersionedEntry<K, V> reread(byte[] key) {
        try (RequestBuffer scratch = borrowFor(key)) {
            final Request request = scratch.get();
            opening.execute(request);
            return request.status() == Status.OK
                    ? new VersionedEntry<>(opening.key(key), opening.valueOf(request), request.version())
                    : null;
        }
    }

    private RequestBuffer borrowFor(byte[] key) {
        final RequestBuffer scratch = opening.borrow();
        final ByteSink sink = scratch.key();
        sink.reset();
        sink.write(key, 0, key.length);
        return scratch;
    }

    @Override
    public Cache.Entry<K, V> next() {
        final long startNs = opening.statistics().start();
        if (!hasNext() || next == null || nextKey == null) {
            throw new NoSuchElementException("the cache has no more entries");
        }
        final VersionedEntry<K, V> entry = next;
        if (canExpire) {
            access(nextKey, entry.version());
        }
        next = null;
        current = entry;
        opening.statistics().got(true, startNs);
        return entry;
    }

    private void access(byte[] key, long version) {
        try (RequestBuffer scratch = borrowFor(key)) {
            reads.accessed(scratch, version);
        }
    }

    @Override
    public void remove() {
        requireOpen();
        if (current == null) {
            throw new IllegalStateException("there is no entry to remove: next() comes first");
        }
        final K key = current.key();
        current = null;
        mutations.remove(key);
    }
}
