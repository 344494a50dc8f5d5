package org.rowankv.spring;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import javax.cache.CacheException;
import javax.cache.CacheManager;
import org.jspecify.annotations.Nullable;
import org.springframework.cache.Cache;
import org.springframework.cache.transaction.AbstractTransactionSupportingCacheManager;

/**
 * The Spring cache manager over a JCache one. It opens a cache at its first use, and creates it where the templates say
 * so. While the servers cannot be reached a cache misses, unless failures throw. Thread-safe.
 */
public final class RowanSpringCacheManager extends AbstractTransactionSupportingCacheManager {
    private final CacheManager manager;
    private final CacheFailures failures;
    private final Executor reads;
    private final List<String> names;
    private final Consumer<Cache> whenCreated;

    /**
     * @param reads reads for callers that must not wait
     * @param names of caches to open at the start
     * @param whenCreated called for each cache that is opened later
     */
    RowanSpringCacheManager(
            CacheManager manager,
            CacheFailures failures,
            Executor reads,
            List<String> names,
            Consumer<Cache> whenCreated) {
        this.manager = manager;
        this.failures = failures;
        this.reads = reads;
        this.names = List.copyOf(names);
        this.whenCreated = whenCreated;
    }

    /** The manager below. */
    public CacheManager getCacheManager() {
        return manager;
    }

    @Override
    protected Collection<? extends Cache> loadCaches() {
        final List<Cache> caches = new ArrayList<>();
        names.forEach(name -> caches.add(require(name)));
        return caches;
    }

    private Cache require(String name) {
        final Cache cache = open(name);
        if (cache == null) {
            throw new IllegalStateException(
                    "the cache " + name + " does not exist, and its template has create: false");
        }
        return cache;
    }

    private @Nullable RowanSpringCache open(String name) {
        final javax.cache.Cache<Object, Object> cache;
        try {
            cache = manager.getCache(name);
        } catch (CacheException e) {
            if (!CacheFailures.isUnreachable(e)) {
                throw e;
            }
            failures.ignore(e, "open", name, "misses until the servers are reached");
            return new RowanSpringCache(name, this::openLater, failures, reads);
        }
        return cache == null ? null : new RowanSpringCache(cache, failures, reads);
    }

    private javax.cache.Cache<Object, Object> openLater(RowanSpringCache waiting) {
        final javax.cache.Cache<Object, Object> cache = manager.getCache(waiting.getName());
        if (cache == null) {
            throw new IllegalStateException(
                    "the cache " + waiting.getName() + " does not exist, and its template has create: false");
        }
        whenCreated.accept(new RowanSpringCache(cache, failures, reads));
        return cache;
    }

    @Override
    protected @Nullable Cache getMissingCache(String name) {
        final RowanSpringCache cache = open(name);
        if (cache != null && cache.isOpen()) {
            whenCreated.accept(cache);
        }
        return cache;
    }
}
