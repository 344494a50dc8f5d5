package org.rowankv.spring;

import org.jspecify.annotations.Nullable;
import org.springframework.cache.Cache;
import org.springframework.cache.interceptor.CacheErrorHandler;

/**
 * A failing get is a miss and a failing put is dropped, since the method has the result anyway; both are logged. A
 * failing evict or clear throws: the cache may still have what the application has changed. A dropped put removes the
 * entry, where the servers can be reached, for the same reason. Thread-safe.
 */
final class RowanCacheErrorHandler implements CacheErrorHandler {
    private final CacheFailures failures;

    RowanCacheErrorHandler(CacheFailures failures) {
        this.failures = failures;
    }

    @Override
    public void handleCacheGetError(RuntimeException exception, Cache cache, Object key) {
        if (failures.isOfLoader(exception)) {
            throw exception; // else the method would be called once more for each caller that has waited for it
        }
        failures.ignore(exception, "get", cache.getName(), "a miss");
    }

    @Override
    public void handleCachePutError(RuntimeException exception, Cache cache, Object key, @Nullable Object value) {
        if (CacheFailures.isUnreachable(exception)) {
            failures.ignore(exception, "put", cache.getName(), "not cached; an older value may still be");
        } else if (exception instanceof IllegalStateException) {
            failures.ignore(exception, "put", cache.getName(), "not cached"); // the cache is closed: it has nothing
        } else {
            failures.ignore(exception, "put", cache.getName(), "not cached");
            cache.evict(key);
        }
    }

    @Override
    public void handleCacheEvictError(RuntimeException exception, Cache cache, Object key) {
        throw exception;
    }

    @Override
    public void handleCacheClearError(RuntimeException exception, Cache cache) {
        throw exception;
    }
}
