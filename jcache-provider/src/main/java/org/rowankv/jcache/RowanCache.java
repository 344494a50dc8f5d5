package org.rowankv.jcache;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import javax.cache.Cache;
import javax.cache.processor.EntryProcessor;
import org.jspecify.annotations.Nullable;
import org.rowankv.jcache.operation.Versioned;

/**
 * Operations of this provider beyond the JSR; obtained by {@code cache.unwrap(RowanCache.class)}. Thread-safe. {@code
 * cache.unwrap(CacheStatisticsMXBean.class)} is the statistics without an MBean server.
 *
 * <p>Every operation on one key is linearizable. A stage completes as the blocking operation would return or throw:
 * before the call returns, on the calling thread.
 */
public interface RowanCache<K, V> extends Cache<K, V> {
    /** Reads a value with its version; like {@link #get}, but loads nothing. */
    Versioned<V> getVersioned(K key);

    /** Replaces the value if it has that version; like {@link #replace}, with the version in place of the old value. */
    boolean replaceIfVersion(K key, V value, long version);

    /** Removes the entry if its value has that version. */
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
     * The keys, page by page, without values: no access, no count, no load. Not a snapshot: keys written or removed
     * meanwhile may be missing; all others occur once. The iterator does not support removal.
     */
    Iterable<K> keys();

    /**
     * Reads each entry independently, as {@link #getVersioned} does.
     *
     * @return by key, the result or the failure
     */
    Map<K, CompletionStage<Versioned<V>>> getEach(Set<? extends K> keys);

    /**
     * Puts each entry independently.
     *
     * @return the failed keys with their failures; empty on success
     */
    Map<K, RuntimeException> putEach(Map<? extends K, ? extends V> entries);

    /**
     * Removes each entry independently.
     *
     * @return the failed keys with their failures; empty on success
     */
    Map<K, RuntimeException> removeEach(Iterable<? extends K> keys);

    /**
     * Number of losses of the registered listeners: each event beyond a backlog, and each possible loss of other JVMs'
     * changes in one shard. 0: all events were or will be delivered. A listener that implements {@link
     * org.rowankv.jcache.event.EventsLostListener} receives each loss.
     */
    long lostEventCount();

    /**
     * Number of entries now, over all servers; cheap, since they count. Those that have expired or were cleared count until
     * they are swept, seconds later.
     *
     * @throws javax.cache.CacheException if a server cannot be reached
     */
    long entryCount();

    /** As {@link #entryCount}: the bytes that the entries occupy in the log of one replica, including headers. */
    long entryBytes();

    /** The durability of acknowledged writes, as a sentence. */
    String durability();
}
