package org.rowankv.jcache;

import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import javax.cache.processor.EntryProcessor;
import org.jspecify.annotations.Nullable;
import org.rowankv.jcache.operation.Versioned;

/**
 * Asynchronous operations on top of the blocking ones; they complete before they return. Thread-safe if the blocking
 * ones are.
 */
abstract class AsyncCacheOperations<K, V> implements RowanCache<K, V> {
    private static <T> CompletionStage<@Nullable T> stage(Supplier<? extends @Nullable T> operation) {
        try {
            return CompletableFuture.completedFuture(operation.get());
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    @Override
    public CompletionStage<@Nullable V> getAsync(K key) {
        return stage(() -> get(key));
    }

    @Override
    public CompletionStage<Map<K, V>> getAllAsync(Set<? extends K> keys) {
        return stage(() -> getAll(keys));
    }

    @Override
    public CompletionStage<Versioned<V>> getVersionedAsync(K key) {
        return stage(() -> getVersioned(key));
    }

    @Override
    public CompletionStage<@Nullable Void> putAsync(K key, V value) {
        return stage(() -> {
            put(key, value);
            return null;
        });
    }

    @Override
    public CompletionStage<@Nullable Void> putAllAsync(Map<? extends K, ? extends V> entries) {
        return stage(() -> {
            putAll(entries);
            return null;
        });
    }

    @Override
    public CompletionStage<Boolean> putIfAbsentAsync(K key, V value) {
        return stage(() -> putIfAbsent(key, value));
    }

    @Override
    public CompletionStage<Boolean> replaceIfVersionAsync(K key, V value, long version) {
        return stage(() -> replaceIfVersion(key, value, version));
    }

    @Override
    public CompletionStage<Boolean> removeAsync(K key) {
        return stage(() -> remove(key));
    }

    @Override
    public CompletionStage<Boolean> removeIfVersionAsync(K key, long version) {
        return stage(() -> removeIfVersion(key, version));
    }

    @Override
    public <T> CompletionStage<@Nullable T> invokeAsync(
            K key, EntryProcessor<K, V, T> entryProcessor, @Nullable Object... arguments) {
        return stage(() -> invoke(key, entryProcessor, arguments));
    }

    @Override
    public Map<K, CompletionStage<Versioned<V>>> getEach(Set<? extends K> keys) {
        for (K key : keys) {
            Objects.requireNonNull(key, "one of the keys");
        }
        final Map<K, CompletionStage<Versioned<V>>> results = new HashMap<>();
        for (K key : keys) {
            results.put(key, getVersionedAsync(key));
        }
        return results;
    }
}
