package org.rowankv.micrometer;

import io.micrometer.core.instrument.Clock;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
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
 * cache.puts}, {@code cache.evictions}, {@code cache.removals}, {@code cache.size}; and {@code cache.bytes}, what the entries
 * occupy in the log of one replica; and {@code cache.gets.mean}, {@code cache.puts.mean}, {@code cache.removals.mean}, the
 * mean durations since the statistics were cleared; and {@code cache.events.lost}, the events that listeners missed. Size,
 * bytes and evictions are of the whole store, whichever clients changed it: its servers are asked. While they cannot be
 * reached these three stand still.
 *
 * <p>The counters stand still while the statistics of the cache are disabled. They are read from the cache itself and
 * need no MBean, so that the URI of the cache manager may have any characters. Holds the cache weakly. Thread-safe.
 */
public final class RowanCacheMetrics extends CacheMeterBinder<Cache<?, ?>> {
    private final Iterable<Tag> tags;
    private final ServerReading evictions =
            new ServerReading(0, Clock.SYSTEM, cache -> statistics(cache).getCacheEvictions());

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

    /** The gauge is bound below: this would be asked at once, whether the servers are there or not. */
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
        final Cache<?, ?> cache = getCache();
        return cache == null ? 0 : (long) evictions.read(cache);
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
        gauge(registry, cache, "cache.size", null, RowanCache::entryCount, "The number of entries in the cache");
        gauge(
                registry,
                cache,
                "cache.bytes",
                "bytes",
                RowanCache::entryBytes,
                "Bytes that the entries occupy in the log of one replica");
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

    private void gauge(
            MeterRegistry registry,
            Cache<?, ?> cache,
            String name,
            @Nullable String unit,
            ToLongFunction<RowanCache<?, ?>> number,
            String description) {
        final ServerReading reading = new ServerReading(
                Double.NaN, registry.config().clock(), each -> number.applyAsLong(each.unwrap(RowanCache.class)));
        Gauge.builder(name, cache, reading::read)
                .tags(tags)
                .tag("cache", cache.getName())
                .baseUnit(unit)
                .description(description)
                .register(registry);
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
