package org.rowankv.spring;

import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.Supplier;
import javax.cache.Cache;
import org.jspecify.annotations.Nullable;
import org.springframework.cache.support.AbstractValueAdaptingCache;
import org.springframework.cache.support.SimpleValueWrapper;

/**
 * A cache as Spring sees it, opened at its first use if it could not be opened before. Unlike Spring's own adapter it loads a value once for all callers of {@link #get(Object,
 * Callable)} in this JVM, {@link #retrieve(Object) knows} methods that return futures or reactive types, and its
 * {@link #clear} does not visit the entries. Thread-safe.
 */
final class RowanSpringCache extends AbstractValueAdaptingCache {
    private final String name;
    private final Function<RowanSpringCache, Cache<Object, Object>> opening;
    private final CacheFailures failures;
    /** Reads for callers that must not wait. */
    private final Executor reads;

    private final CacheLoads loads = new CacheLoads();
    /** Null until it is opened. */
    private volatile @Nullable Cache<Object, Object> cache;

    RowanSpringCache(Cache<Object, Object> cache, CacheFailures failures, Executor reads) {
        this(cache.getName(), self -> cache, failures, reads);
        this.cache = cache;
    }

    /**
     * @param opening opens the cache, or throws while it cannot be opened
     * @param reads reads for callers that must not wait
     */
    RowanSpringCache(
            String name,
            Function<RowanSpringCache, Cache<Object, Object>> opening,
            CacheFailures failures,
            Executor reads) {
        super(true);
        this.name = name;
        this.opening = opening;
        this.failures = failures;
        this.reads = reads;
    }

    @Override
    public String getName() {
        return name;
    }

    @Override
    public Cache<Object, Object> getNativeCache() {
        Cache<Object, Object> present = cache;
        if (present == null) {
            present = opening.apply(this);
            cache = present;
        }
        return present;
    }

    boolean isOpen() {
        return cache != null;
    }

    @Override
    protected @Nullable Object lookup(Object key) {
        return getNativeCache().get(key);
    }

    @Override
    @SuppressWarnings("unchecked") // as Spring's own caches: the caller knows what it cached
    public <T> @Nullable T get(Object key, Callable<T> valueLoader) {
        final ValueWrapper present = lookupOrMiss(key);
        return (T)
                (present != null
                        ? present.get()
                        : loads.load(key, valueLoader, () -> lookupOrMiss(key), value -> store(key, value)));
    }

    /** The value in a wrapper, since it may be null; completes with null for a miss. */
    @Override
    public CompletableFuture<?> retrieve(Object key) {
        return CompletableFuture.supplyAsync(() -> get(key), reads);
    }

    @Override
    @SuppressWarnings("unchecked") // as above
    public <T> CompletableFuture<T> retrieve(Object key, Supplier<CompletableFuture<T>> valueLoader) {
        return (CompletableFuture<T>) loads.loadAsync(
                key,
                () -> valueLoader.get().whenComplete((value, failure) -> noteFailure(failure)),
                () -> CompletableFuture.supplyAsync(() -> lookupOrMiss(key), reads),
                value -> store(key, value));
    }

    private void noteFailure(@Nullable Throwable ofLoader) {
        if (ofLoader != null) {
            failures.addOfLoader(
                    ofLoader instanceof CompletionException && ofLoader.getCause() != null
                            ? ofLoader.getCause()
                            : ofLoader);
        }
    }

    /** Spring's error handler is not asked for these. */
    private @Nullable ValueWrapper lookupOrMiss(Object key) {
        try {
            return get(key);
        } catch (RuntimeException e) {
            failures.ignore(e, "get", getName(), "a miss");
            return null;
        }
    }

    private void store(Object key, @Nullable Object value) {
        try {
            getNativeCache()
                    .putIfAbsent(
                            key, Objects.requireNonNull(toStoreValue(value))); // not over what another JVM wrote since
        } catch (RuntimeException e) {
            failures.ignore(e, "put", getName(), "not cached");
        }
    }

    @Override
    public void put(Object key, @Nullable Object value) {
        loads.evict(key);
        getNativeCache().put(key, Objects.requireNonNull(toStoreValue(value)));
    }

    @Override
    public @Nullable ValueWrapper putIfAbsent(Object key, @Nullable Object value) {
        loads.evict(key);
        final Object stored = Objects.requireNonNull(toStoreValue(value));
        while (!getNativeCache().putIfAbsent(key, stored)) {
            final Object present = getNativeCache().get(key);
            if (present != null) { // else it has gone between the two
                return new SimpleValueWrapper(fromStoreValue(present));
            }
        }
        return null;
    }

    @Override
    public void evict(Object key) {
        loads.evict(key);
        getNativeCache().remove(key);
    }

    @Override
    public boolean evictIfPresent(Object key) {
        loads.evict(key);
        return getNativeCache().remove(key);
    }

    @Override
    public void clear() {
        loads.evictAll();
        getNativeCache().clear();
    }

    @Override
    public boolean invalidate() {
        final boolean wasUsed = getNativeCache().iterator().hasNext();
        clear();
        return wasUsed;
    }
}
