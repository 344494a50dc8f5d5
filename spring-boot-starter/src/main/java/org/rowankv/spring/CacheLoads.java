package org.rowankv.spring;

import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.cache.Cache.ValueRetrievalException;
import org.springframework.cache.Cache.ValueWrapper;

/**
 * Loads under way in this JVM, one per key of a cache: later callers wait for it and share its result or failure. A key
 * that is evicted meanwhile gets a new load, and the result of the old one is not cached. Thread-safe.
 *
 * <p>An entry processor would not do: it runs again for every caller while a slow one is under way.
 */
final class CacheLoads {
    private static final class Load {
        /** Runs the loader now: what it asks for itself must not wait for it. */
        private volatile @Nullable Thread owner;

        private final CompletableFuture<@Nullable Object> result = new CompletableFuture<>();
        /** Held while the result is cached, so that an eviction follows and removes it. */
        private final ReentrantLock caching = new ReentrantLock();

        private boolean evicted;

        private boolean isOfThisThread() {
            return Thread.currentThread().equals(owner);
        }
    }

    private final Map<Object, Load> loads = new ConcurrentHashMap<>();

    /**
     * The loader's result, or that of the load that is under way.
     *
     * @param look finds the value in the cache: another load may have ended since the caller looked
     * @param store caches the result
     * @throws ValueRetrievalException if the loader fails, or the wait is interrupted
     */
    @Nullable
    Object load(
            Object key, Callable<?> loader, Supplier<@Nullable ValueWrapper> look, Consumer<@Nullable Object> store) {
        final Load own = new Load();
        own.owner = Thread.currentThread();
        final Load present = loads.putIfAbsent(key, own);
        if (present == null) {
            return run(key, own, loader, look, store);
        }
        if (present.isOfThisThread()) {
            return call(key, loader); // a loader that asks for its own key
        }
        return await(key, loader, present);
    }

    private @Nullable Object run(
            Object key,
            Load own,
            Callable<?> loader,
            Supplier<@Nullable ValueWrapper> look,
            Consumer<@Nullable Object> store) {
        try {
            final ValueWrapper present = look.get();
            if (present != null) {
                own.result.complete(present.get());
                return present.get();
            }
            final Object value = call(key, loader);
            storeUnlessEvicted(own, value, store);
            own.result.complete(value);
            return value;
        } catch (RuntimeException | Error e) {
            own.result.completeExceptionally(e);
            throw e;
        } finally {
            loads.remove(key, own);
        }
    }

    /**
     * As {@link #load}, for a loader that returns a future; blocks no thread but for caching the result.
     *
     * @return completes with the result, or with the loader's failure
     */
    CompletableFuture<@Nullable Object> loadAsync(
            Object key,
            Supplier<? extends CompletableFuture<?>> loader,
            Supplier<CompletableFuture<@Nullable ValueWrapper>> look,
            Consumer<@Nullable Object> store) {
        final Load own = new Load();
        final Load present = loads.putIfAbsent(key, own);
        if (present != null) {
            return present.isOfThisThread() ? begin(present, loader) : present.result.copy();
        }
        final CompletableFuture<?> unused = CompletableFuture.completedFuture(key)
                .thenCompose(same -> look.get())
                .thenCompose(found -> found != null
                        ? CompletableFuture.completedFuture(found.get())
                        : begin(own, loader).thenApply(value -> {
                            storeUnlessEvicted(own, value, store);
                            return value;
                        }))
                .whenComplete((value, failure) -> {
                    loads.remove(key, own);
                    if (failure == null) {
                        own.result.complete(value);
                    } else {
                        own.result.completeExceptionally(failure);
                    }
                });
        return own.result.copy();
    }

    private static CompletableFuture<@Nullable Object> begin(
            Load load, Supplier<? extends CompletableFuture<?>> loader) {
        final Thread before = load.owner;
        load.owner = Thread.currentThread();
        try {
            return loader.get().thenApply(value -> value);
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(e);
        } finally {
            load.owner = before;
        }
    }

    private static void storeUnlessEvicted(Load own, @Nullable Object value, Consumer<@Nullable Object> store) {
        own.caching.lock();
        try {
            if (!own.evicted) {
                store.accept(value);
            }
        } finally {
            own.caching.unlock();
        }
    }

    private static @Nullable Object call(Object key, Callable<?> loader) {
        try {
            return loader.call();
        } catch (Exception e) {
            throw new ValueRetrievalException(key, loader, e);
        }
    }

    private static @Nullable Object await(Object key, Callable<?> loader, Load present) {
        try {
            return present.result.get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ValueRetrievalException(key, loader, e);
        } catch (ExecutionException e) {
            final Throwable cause =
                    e.getCause() instanceof ValueRetrievalException failed ? failed.getCause() : e.getCause();
            throw new ValueRetrievalException(key, loader, cause == null ? e : cause);
        }
    }

    /** Called before an entry is removed or written: no result of a load that began earlier is cached after it. */
    void evict(Object key) {
        final Load load = loads.remove(key);
        if (load != null) {
            discard(load);
        }
    }

    /** As {@link #evict}, for all keys. */
    void evictAll() {
        loads.keySet().forEach(this::evict);
    }

    private static void discard(Load load) {
        load.caching.lock();
        try {
            load.evicted = true;
        } finally {
            load.caching.unlock();
        }
    }
}
