package org.rowankv.micrometer;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.binder.cache.CacheMeterBinder;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;
import javax.cache.Cache;
import javax.cache.management.CacheStatisticsMXBean;
import org.jspecify.annotations.Nullable;
import org.rowankv.jcache.RowanCache;
import org.rowankv.jcache.management.RowanCacheStatisticsMXBean;

/**
 * Meters of one cache, under the names of Micrometer's other caches: {@code cache.gets} by {@code result}, {@code
 * cache.puts}, {@code cache.evictions}, {@code cache.removals}; and {@code cache.gets.mean}, {@code cache.puts.mean},
 * {@code cache.removals.mean}, the mean durations since the statistics were cleared; and {@code cache.events.lost},
 * the events that listeners missed. There is no {@code cache.size}: a store does not count the entries of a cache.
 *
 * <p>The counters stand still while the statistics of the cache are disabled. They are read from the cache itself and
 * need no MBean, so that the URI of the cache manager may have any characters. Holds the cache weakly. Thread-safe.
 */
public final class RowanCacheMetrics extends CacheMeterBinder<Cache<?, ?>> {
    private final Iterable<Tag> tags;

    /**
     * Enables the statistics of the cache and binds its meters.
     *
     * @param tags of every meter, beside the name of the cache
     * @throws IllegalArgumentException if the cache is of another provider
     */
    public static <C extends Cache<?, ?>> C monitor(MeterRegistry registry, C cache, Iterable<Tag> tags) {
        new RowanCacheMetrics(cache, tags).bindTo(registry);
        cache.getCacheManager().enableStatistics(cache.getName(), true);
        return cache;
    }

    /**
     * @param tags of every meter, beside the name of the cache
     * @throws IllegalArgumentException if the cache is of another provider
     */
    public RowanCacheMetrics(Cache<?, ?> cache, Iterable<Tag> tags) {
        super(cache.unwrap(RowanCache.class), cache.getName(), tags);
        this.tags = tags;
    }

    /** 0 once the cache has been collected. */
    private long count(ToLongFunction<CacheStatisticsMXBean> counter) {
        final Cache<?, ?> cache = getCache();
        return cache == null ? 0 : counter.applyAsLong(statistics(cache));
    }

    private static CacheStatisticsMXBean statistics(Cache<?, ?> cache) {
        return cache.unwrap(CacheStatisticsMXBean.class);
    }

    @Override
    protected @Nullable Long size() {
        return null;
    }

    @Override
    protected long hitCount() {
        return count(CacheStatisticsMXBean::getCacheHits);
    }

    @Override
    protected Long missCount() {
        return count(CacheStatisticsMXBean::getCacheMisses);
    }

    @Override
    protected Long evictionCount() {
        return count(CacheStatisticsMXBean::getCacheEvictions);
    }

    @Override
    protected long putCount() {
        return count(CacheStatisticsMXBean::getCachePuts);
    }

    @Override
    protected void bindImplementationSpecificMetrics(MeterRegistry registry) {
        final Cache<?, ?> cache = getCache();
        if (cache == null) {
            return;
        }
        FunctionCounter.builder(
                        "cache.removals", cache, each -> statistics(each).getCacheRemovals())
                .tags(tags)
                .tag("cache", cache.getName())
                .description("The number of entries removed from the cache")
                .register(registry);
        FunctionCounter.builder(
                        "cache.near.hits",
                        cache,
                        each -> each.unwrap(RowanCacheStatisticsMXBean.class).getNearCacheHits())
                .tags(tags)
                .tag("cache", cache.getName())
                .description("The number of hits that values kept in this JVM answered")
                .register(registry);
        FunctionCounter.builder(
                        "cache.events.lost",
                        cache,
                        each -> each.unwrap(RowanCache.class).lostEventCount())
                .tags(tags)
                .tag("cache", cache.getName())
                .description("The number of events that listeners of the cache missed")
                .register(registry);
        mean(registry, cache, "gets", CacheStatisticsMXBean::getAverageGetTime);
        mean(registry, cache, "puts", CacheStatisticsMXBean::getAveragePutTime);
        mean(registry, cache, "removals", CacheStatisticsMXBean::getAverageRemoveTime);
    }

    private void mean(
            MeterRegistry registry,
            Cache<?, ?> cache,
            String operations,
            ToDoubleFunction<CacheStatisticsMXBean> micros) {
        TimeGauge.builder(
                        "cache." + operations + ".mean",
                        cache,
                        TimeUnit.MICROSECONDS,
                        each -> micros.applyAsDouble(statistics(each)))
                .tags(tags)
                .tag("cache", cache.getName())
                .description("The mean duration of " + operations + " since the statistics were cleared")
                .register(registry);
    }
}
