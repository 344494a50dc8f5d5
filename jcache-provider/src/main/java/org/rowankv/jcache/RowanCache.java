package org.rowankv.jcache;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import javax.cache.Cache;
import javax.cache.processor.EntryProcessor;
import org.jspecify.annotations.Nullable;
import org.rowankv.jcache.operation.Versioned;

/**
 * What a cache of this provider can do beyond the JSR; had from {@code cache.unwrap(RowanCache.class)}. Thread-safe.
 *
 * <p>Every operation on one key is linearizable. The stages complete as the operation would return or throw; with the
 * servers in this JVM that is before the call returns, on the calling thread.
 */
public interface RowanCache<K, V> extends Cache<K, V> {
    /** Reads a value with its version; like {@link #get}, but nothing is loaded. */
    Versioned<V> getVersioned(K key);

    /** Replaces the value if it still has that version; like {@link #replace}, with the version in place of the old value. */
    boolean replaceIfVersion(K key, V value, long version);

    /** Removes the entry if its value still has that version. */
    boolean removeIfVersion(K key, long version);

    CompletionStage<@Nullable V> getAsync(K key);

    CompletionStage<Map<K, V>> getAllAsync(Set<? extends K> keys);

    CompletionStage<Versioned<V>> getVersionedAsync(K key);

    CompletionStage<@Nullable Void> putAsync(K key, V value);

    CompletionStage<@Nullable Void> putAllAsync(Map<? extends K, ? extends V> entries);

    CompletionStage<Boolean> putIfAbsentAsync(K key, V value);

    CompletionStage<Boolean> replaceIfVersionAsync(K key, V value, long version);

    CompletionStage<Boolean> removeAsync(K key);

    CompletionStage<Boolean> removeIfVersionAsync(K key, long version);

    <T> CompletionStage<@Nullable T> invokeAsync(
            K key, EntryProcessor<K, V, T> entryProcessor, @Nullable Object... arguments);

    /**
     * The keys, page by page, without their values: no access takes place, nothing is counted or loaded. No snapshot: a key
     * that is written or removed meanwhile may be there or not, all others are there once. A walk does not remove.
     */
    Iterable<K> keys();

    /**
     * Reads all entries, each on its own, as {@link #getVersioned} does.
     *
     * @return for each key what was read, or what that failed with
     */
    Map<K, CompletionStage<Versioned<V>>> getEach(Set<? extends K> keys);

    /**
     * Puts all entries, each on its own.
     *
     * @return the entries that failed, with what they failed with; empty when all is well
     */
    Map<K, RuntimeException> putEach(Map<? extends K, ? extends V> entries);

    /**
     * Removes all entries, each on its own.
     *
     * @return the keys that failed, with what they failed with; empty when all is well
     */
    Map<K, RuntimeException> removeEach(Iterable<? extends K> keys);

    /**
     * How often events were lost to the listeners that are registered now: each event that one was too far behind for, and each time
     * that changes of other JVMs may have been missed, of one shard. 0: they have heard, or will hear, of everything. A listener that
     * implements {@link org.rowankv.jcache.event.EventsLostListener} is told.
     */
    long lostEventCount();

    /** What the store's acknowledgements promise, in one sentence for people. */
    String durability();
}
