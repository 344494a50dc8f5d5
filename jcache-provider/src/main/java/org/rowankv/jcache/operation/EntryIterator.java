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
 * Iterator over the entries of a cache, page by page. Not a snapshot: it returns an entry that exists throughout once,
 * one written or removed meanwhile perhaps. Never returns null, or an entry that had expired when {@link #hasNext} or
 * {@link #next} read it. Used by one thread.
 */
public final class EntryIterator<K, V> implements Iterator<Cache.Entry<K, V>> {
    private final CacheBinding<K, V> binding;
    private final Reads<K, V> reads;
    private final Mutations<K, V> mutations;
    private final BooleanSupplier closed;
    private final boolean canExpire;
    private final ScanCursor cursor;
    private byte @Nullable [] nextKey;
    private @Nullable VersionedEntry<K, V> next;
    private @Nullable VersionedEntry<K, V> current;

    public EntryIterator(
            CacheBinding<K, V> binding, Reads<K, V> reads, Mutations<K, V> mutations, BooleanSupplier closed) {
        this.binding = binding;
        this.reads = reads;
        this.mutations = mutations;
        this.closed = closed;
        this.canExpire = !binding.expiry().isEternal();
        this.cursor = binding.scan(!canExpire);
    }

    private void requireOpen() {
        if (closed.getAsBoolean()) {
            throw new IllegalStateException("the cache " + binding.name() + " is closed");
        }
    }

    @Override
    public boolean hasNext() {
        requireOpen();
        try {
            while (next == null && cursor.hasNext()) {
                final ScanPage.Entry found = cursor.next();
                nextKey = found.key();
                next = canExpire ? readAgain(found.key()) : entryOf(found);
            }
        } catch (RowanException e) {
            throw ExceptionMapping.of(e);
        }
        return next != null;
    }

    private VersionedEntry<K, V> entryOf(ScanPage.Entry found) {
        final byte[] value = found.value();
        if (value == null) {
            throw new IllegalStateException("a scan with values returned an entry without a value");
        }
        return new VersionedEntry<>(binding.key(found.key()), binding.value(value), found.version());
    }

    /** The current entry without an access, or null if it no longer exists. */
    private @Nullable VersionedEntry<K, V> readAgain(byte[] key) {
        try (RequestBuffer buffer = acquireFor(key)) {
            final Request request = buffer.get();
            binding.execute(request);
            return request.status() == Status.OK
                    ? new VersionedEntry<>(binding.key(key), binding.valueOf(request), request.version())
                    : null;
        }
    }

    private RequestBuffer acquireFor(byte[] key) {
        final RequestBuffer buffer = binding.acquire();
        final ByteSink sink = buffer.key();
        sink.reset();
        sink.write(key, 0, key.length);
        return buffer;
    }

    @Override
    public Cache.Entry<K, V> next() {
        final long startNs = binding.statistics().start();
        if (!hasNext() || next == null || nextKey == null) {
            throw new NoSuchElementException("the cache has no more entries");
        }
        final VersionedEntry<K, V> entry = next;
        if (canExpire) {
            access(nextKey, entry.version());
        }
        next = null;
        current = entry;
        binding.statistics().got(true, startNs);
        return entry;
    }

    private void access(byte[] key, long version) {
        try (RequestBuffer buffer = acquireFor(key)) {
            reads.accessed(buffer, version);
        }
    }

    @Override
    public void remove() {
        requireOpen();
        if (current == null) {
            throw new IllegalStateException("there is no entry to remove: call next() first");
        }
        final K key = current.key();
        current = null;
        mutations.remove(key);
    }
}
