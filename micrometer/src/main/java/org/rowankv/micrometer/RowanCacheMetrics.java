package org.rowankv.micrometer;

import io.micrometer.core.instrument.Clock;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
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
 * need no MBean, so that the URI of the cache manager may have any characters. Holds the cache weakly. If the meters of
 * this name and these tags are of a cache that is closed by now, they are replaced. Thread-safe.
 */
public final class RowanCacheMetrics implements MeterBinder {
    private final WeakReference<Cache<?, ?>> cache;
    private final Tags tags;

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
        this.cache = new WeakReference<>(cache.unwrap(RowanCache.class));
        this.tags = Tags.concat(tags, "cache", cache.getName());
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        final Cache<?, ?> bound = cache.get();
        if (bound != null) {
            BoundMeters.of(registry).bind(getClass(), tags, bound, each -> meters(registry, each));
        }
    }

    private static CacheStatisticsMXBean statistics(Cache<?, ?> cache) {
        return cache.unwrap(CacheStatisticsMXBean.class);
    }

    private List<Meter.Id> meters(MeterRegistry registry, Cache<?, ?> of) {
        final ServerReading evictions =
                new ServerReading(0, Clock.SYSTEM, each -> statistics(each).getCacheEvictions());
        final List<Meter.Id> meters = new ArrayList<>();
        meters.add(
                gauge(registry, of, "cache.size", null, RowanCache::entryCount, "The number of entries in the cache"));
        meters.add(gauge(
                registry,
                of,
                "cache.bytes",
                "bytes",
                RowanCache::entryBytes,
                "Bytes that the entries occupy in the log of one replica"));
        meters.add(counter(
                registry,
                of,
                "cache.gets",
                Tags.of("result", "hit"),
                each -> statistics(each).getCacheHits(),
                "The number of reads that found an entry"));
        meters.add(counter(
                registry,
                of,
                "cache.gets",
                Tags.of("result", "miss"),
                each -> statistics(each).getCacheMisses(),
                "The number of reads that found no entry"));
        meters.add(counter(
                registry,
                of,
                "cache.puts",
                Tags.empty(),
                each -> statistics(each).getCachePuts(),
                "The number of entries added to the cache"));
        meters.add(counter(
                registry, of, "cache.evictions", Tags.empty(), evictions::read, "The number of entries evicted"));
        meters.add(counter(
                registry,
                of,
                "cache.removals",
                Tags.empty(),
                each -> statistics(each).getCacheRemovals(),
                "The number of entries removed from the cache"));
        meters.add(counter(
                registry,
                of,
                "cache.near.hits",
                Tags.empty(),
                each -> each.unwrap(RowanCacheStatisticsMXBean.class).getNearCacheHits(),
                "The number of hits that values kept in this JVM answered"));
        meters.add(counter(
                registry,
                of,
                "cache.events.lost",
                Tags.empty(),
                each -> each.unwrap(RowanCache.class).lostEventCount(),
                "The number of events that listeners of the cache missed"));
        meters.add(mean(registry, of, "gets", CacheStatisticsMXBean::getAverageGetTime));
        meters.add(mean(registry, of, "puts", CacheStatisticsMXBean::getAveragePutTime));
        meters.add(mean(registry, of, "removals", CacheStatisticsMXBean::getAverageRemoveTime));
        return meters;
    }

    private Meter.Id counter(
            MeterRegistry registry,
            Cache<?, ?> of,
            String name,
            Tags more,
            ToDoubleFunction<Cache<?, ?>> number,
            String description) {
        return FunctionCounter.builder(name, of, number)
                .tags(tags)
                .tags(more)
                .description(description)
                .register(registry)
                .getId();
    }

    private Meter.Id gauge(
            MeterRegistry registry,
            Cache<?, ?> of,
            String name,
            @Nullable String unit,
            ToLongFunction<RowanCache<?, ?>> number,
            String description) {
        final ServerReading reading = new ServerReading(
                Double.NaN, registry.config().clock(), each -> number.applyAsLong(each.unwrap(RowanCache.class)));
        return Gauge.builder(name, of, reading::read)
                .tags(tags)
                .baseUnit(unit)
                .description(description)
                .register(registry)
                .getId();
    }

    private Meter.Id mean(
            MeterRegistry registry, Cache<?, ?> of, String operations, ToDoubleFunction<CacheStatisticsMXBean> micros) {
        return TimeGauge.builder(
                        "cache." + operations + ".mean",
                        of,
                        TimeUnit.MICROSECONDS,
                        each -> micros.applyAsDouble(statistics(each)))
                .tags(tags)
                .description("The mean duration of " + operations + " since the statistics were cleared")
                .register(registry)
                .getId();
    }
}
