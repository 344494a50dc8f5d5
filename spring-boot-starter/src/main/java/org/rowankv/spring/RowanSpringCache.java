package org.rowankv.spring;

import java.util.Objects;
import java.util.concurrent.Callable;
import javax.cache.Cache;
import org.jspecify.annotations.Nullable;
import org.springframework.cache.support.AbstractValueAdaptingCache;
import org.springframework.cache.support.SimpleValueWrapper;

/**
 * A cache as Spring sees it. Unlike Spring's own adapter it loads a value once for all callers of {@link #get(Object,
 * Callable)} in this JVM, and its {@link #clear} does not visit the entries. Thread-safe.
 */
final class RowanSpringCache extends AbstractValueAdaptingCache {
    private final Cache<Object, Object> cache;
    private final CacheFailures failures;
    private final CacheLoads loads = new CacheLoads();

    RowanSpringCache(Cache<Object, Object> cache, CacheFailures failures) {
        super(true);
        this.cache = cache;
        this.failures = failures;
    }

    @Override
    public String getName() {
        return cache.getName();
    }

    @Override
    public Cache<Object, Object> getNativeCache() {
        return cache;
    }

    @Override
    protected @Nullable Object lookup(Object key) {
        return cache.get(key);
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
            cache.putIfAbsent(
                    key, Objects.requireNonNull(toStoreValue(value))); // not over what another JVM wrote since
        } catch (RuntimeException e) {
            failures.ignore(e, "put", getName(), "not cached");
        }
    }

    @Override
    public void put(Object key, @Nullable Object value) {
        loads.evict(key);
        cache.put(key, Objects.requireNonNull(toStoreValue(value)));
    }

    @Override
    public @Nullable ValueWrapper putIfAbsent(Object key, @Nullable Object value) {
        loads.evict(key);
        final Object stored = Objects.requireNonNull(toStoreValue(value));
        while (!cache.putIfAbsent(key, stored)) {
            final Object present = cache.get(key);
            if (present != null) { // else it has gone between the two
                return new SimpleValueWrapper(fromStoreValue(present));
            }
        }
        return null;
    }

    @Override
    public void evict(Object key) {
        loads.evict(key);
        cache.remove(key);
    }

    @Override
    public boolean evictIfPresent(Object key) {
        loads.evict(key);
        return cache.remove(key);
    }

    @Override
    public void clear() {
        loads.evictAll();
        cache.clear();
    }

    @Override
    public boolean invalidate() {
        final boolean wasUsed = cache.iterator().hasNext();
        clear();
        return wasUsed;
    }
}
