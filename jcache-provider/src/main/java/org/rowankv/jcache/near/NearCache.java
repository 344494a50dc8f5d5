package org.rowankv.jcache.near;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.api.ValidatedValue;
import org.rowankv.protocol.Request;

/**
 * Decoded values of an open cache, each with what proves it current: a hit is a linearizable read. Only values that
 * {@linkplain ImmutableValues nothing can change} are kept, since all callers get the same one. Bounded by estimated
 * bytes of heap. A hit takes no lock and allocates nothing. Thread-safe.
 *
 * <p>A key is found by the application's object if equal objects of its class have equal bytes and nothing can change
 * it; by its bytes otherwise.
 */
public final class NearCache<V> {
    /** Of an entry: the nodes of the map and of its orders, the proof, the key's object. */
    private static final int ENTRY_BYTES = 256;

    private final RowanClient client;
    private final Cache<Object, ValidatedValue<V>> values;

    /**
     * @param maxBytes limit of heap, as estimated
     * @throws NoClassDefFoundError without the library Caffeine
     */
    public NearCache(RowanClient client, long maxBytes) {
        this.client = client;
        this.values = Caffeine.newBuilder()
                .maximumWeight(maxBytes)
                .weigher((Object key, ValidatedValue<V> value) -> ENTRY_BYTES + bytesOf(key) + value.bytes())
                .executor(Runnable::run) // no thread of another's pool, which would outlive the cache
                .build();
    }

    private static int bytesOf(Object key) {
        if (key instanceof NearKey bytes) {
            return bytes.length();
        }
        return key instanceof String text ? Math.min(Integer.MAX_VALUE / 4, text.length()) : 0;
    }

    /** Whether the key's own object finds it. */
    public static boolean isPlain(@Nullable Object key) {
        return key instanceof String || key instanceof Long || key instanceof Integer || key instanceof UUID;
    }

    /**
     * What is kept under the key, current or not; null if nothing is.
     *
     * @param key {@linkplain #isPlain plain}, or a {@link NearKey}
     */
    public @Nullable ValidatedValue<V> find(Object key) {
        return values.getIfPresent(key);
    }

    /**
     * Keeps the value that a read has returned, if it may be kept.
     *
     * @param read with {@link Request#requestLocation}
     * @param stale what was kept under the key before
     */
    public void keep(Object key, Request read, V value, @Nullable ValidatedValue<V> stale) {
        final int bytes = ImmutableValues.bytes(value);
        final ValidatedValue<V> kept = bytes == ImmutableValues.MUTABLE ? null : client.validated(read, value, bytes);
        if (kept != null) {
            values.put(key instanceof NearKey probe ? probe.copy() : key, kept);
        } else {
            forget(key, stale);
        }
    }

    /** Forgets what is not current any more. */
    public void forget(Object key, @Nullable ValidatedValue<V> stale) {
        if (stale != null) {
            values.asMap().remove(key, stale);
        }
    }

    /** Forgets all. */
    public void clear() {
        values.invalidateAll();
    }

    /** Entries kept, current or not; an estimate. */
    public long size() {
        return values.estimatedSize();
    }
}
