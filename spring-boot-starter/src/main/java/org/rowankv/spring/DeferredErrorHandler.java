package org.rowankv.spring;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.cache.Cache;
import org.springframework.cache.interceptor.CacheErrorHandler;

/**
 * The handler of the application context, asked for at the first failure: the interceptors are made so early that the
 * beans behind a handler would miss the post-processors of the context. Thread-safe.
 */
final class DeferredErrorHandler implements CacheErrorHandler {
    private final Supplier<CacheErrorHandler> handlers;

    DeferredErrorHandler(Supplier<CacheErrorHandler> handlers) {
        this.handlers = handlers;
    }

    @Override
    public void handleCacheGetError(RuntimeException exception, Cache cache, Object key) {
        handlers.get().handleCacheGetError(exception, cache, key);
    }

    @Override
    public void handleCachePutError(RuntimeException exception, Cache cache, Object key, @Nullable Object value) {
        handlers.get().handleCachePutError(exception, cache, key, value);
    }

    @Override
    public void handleCacheEvictError(RuntimeException exception, Cache cache, Object key) {
        handlers.get().handleCacheEvictError(exception, cache, key);
    }

    @Override
    public void handleCacheClearError(RuntimeException exception, Cache cache) {
        handlers.get().handleCacheClearError(exception, cache);
    }
}
