package org.rowankv.micrometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.MockClock;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.ToLongFunction;
import javax.cache.Cache;
import javax.cache.CacheException;
import javax.cache.CacheManager;
import javax.cache.Caching;
import javax.cache.configuration.MutableConfiguration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Tag("jvm")
final class RowanCacheMetricsTest {
    @TempDir
    Path directory;

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private CacheManager manager;
    private Cache<String, String> cache;

    /** The URI has what a name of an MBean cannot have. */
    @BeforeEach
    void open() {
        manager = Caching.getCachingProvider()
                .getCacheManager(URI.create("rowan:embedded?dir=" + directory + "&capacity=16m"), null);
        cache = manager.createCache(
                "books", new MutableConfiguration<String, String>().setTypes(String.class, String.class));
    }

    @AfterEach
    void close() {
        manager.close();
    }

    private double counted(String meter, String... tags) {
        return registry.get(meter)
                .tags("cache", "books")
                .tags(tags)
                .functionCounter()
                .count();
    }

    private void use() {
        cache.put("a", "1");
        cache.put("b", "2");
        cache.get("a");
        cache.get("a");
        cache.get("b");
        cache.get("c");
        cache.remove("a");
    }

    @Test
    void shouldCountWhatIsDoneWithACache() {
        assertThat(RowanCacheMetrics.monitor(registry, cache, Tags.of("application", "shop")))
                .isSameAs(cache);
        use();

        assertThat(counted("cache.gets", "result", "hit", "application", "shop"))
                .isEqualTo(3);
        assertThat(counted("cache.gets", "result", "miss")).isEqualTo(1);
        assertThat(counted("cache.puts", "application", "shop")).isEqualTo(2);
        assertThat(counted("cache.removals", "application", "shop")).isEqualTo(1);
        assertThat(counted("cache.evictions")).isZero();
        assertThat(counted("cache.events.lost", "application", "shop")).isZero();
        for (String mean : Set.of("cache.gets.mean", "cache.puts.mean", "cache.removals.mean")) {
            assertThat(registry.get(mean).tags("cache", "books").timeGauge().value(TimeUnit.SECONDS))
                    .as(mean)
                    .isPositive()
                    .isLessThan(10);
        }
    }

    @Test
    void shouldCountEvictions() {
        manager.close();
        manager = Caching.getCachingProvider()
                .getCacheManager(URI.create("rowan:embedded?capacity=16m&template.small.max-entries=10"), null);
        final Cache<Integer, Integer> small = manager.createCache("small", new MutableConfiguration<>());
        RowanCacheMetrics.monitor(registry, small, Tags.empty());
        for (int i = 0; i < 1_000; i++) {
            small.put(i, i);
        }

        assertThat(registry.get("cache.evictions").functionCounter().count()).isPositive();
    }

    @Test
    void shouldCountHitsOfKeptValues() {
        manager.close();
        manager = Caching.getCachingProvider()
                .getCacheManager(URI.create("rowan:embedded?capacity=16m&template.books.near=validated"), null);
        cache = manager.createCache("books", new MutableConfiguration<>());
        RowanCacheMetrics.monitor(registry, cache, Tags.empty());
        use();

        assertThat(counted("cache.near.hits")).isEqualTo(1);
        assertThat(counted("cache.gets", "result", "hit")).isEqualTo(3);
    }

    @Test
    void shouldStandStillWithoutStatistics() {
        new RowanCacheMetrics(cache, Tags.empty()).bindTo(registry);
        use();

        assertThat(counted("cache.gets", "result", "hit")).isZero();
    }

    private double gauge(String meter) {
        return registry.get(meter).tags("cache", "books").gauge().value();
    }

    /** Whoever wrote them, and whether statistics are on or not. */
    @Test
    void shouldKnowHowManyEntriesThereAre() {
        new RowanCacheMetrics(cache, Tags.of("application", "shop")).bindTo(registry);
        assertThat(gauge("cache.size")).isZero();
        use();
        assertThat(gauge("cache.size")).isEqualTo(1);
        assertThat(gauge("cache.bytes")).isBetween(64.0, 256.0);

        cache.put("c", "x".repeat(10_000));
        assertThat(gauge("cache.size")).isEqualTo(2);
        assertThat(gauge("cache.bytes")).isGreaterThan(10_000);
        manager.close();
        assertThat(gauge("cache.size")).as("the last one read").isEqualTo(2);
    }

    /** Each reading would wait for the servers; a page of meters reads dozens. */
    @Test
    void shouldNotWaitForServersThatHaveJustFailed() {
        final AtomicInteger asked = new AtomicInteger();
        final MockClock clock = new MockClock();
        final ToLongFunction<Cache<?, ?>> failing = each -> {
            if (asked.incrementAndGet() > 2) {
                return 7;
            }
            throw new CacheException("unreachable");
        };
        final ServerReading first = new ServerReading(Double.NaN, clock, failing);
        final ServerReading second = new ServerReading(3, clock, failing);

        assertThat(first.read(cache)).isNaN();
        assertThat(second.read(cache)).isEqualTo(3);
        assertThat(first.read(cache)).isNaN();
        assertThat(asked).hasValue(1);
        clock.add(10, TimeUnit.SECONDS);
        assertThat(second.read(cache)).isEqualTo(3);
        assertThat(first.read(cache)).isNaN();
        assertThat(asked).hasValue(2);
        clock.add(10, TimeUnit.SECONDS);
        assertThat(first.read(cache)).isEqualTo(7);
        assertThat(second.read(cache)).isEqualTo(7);
    }

    @Test
    void shouldReadACacheThatHasBeenClosed() {
        RowanCacheMetrics.monitor(registry, cache, Tags.empty());
        use();
        manager.close();

        assertThat(counted("cache.puts")).isEqualTo(2);
    }

    private Cache<String, String> create() {
        return manager.createCache(
                "books", new MutableConfiguration<String, String>().setTypes(String.class, String.class));
    }

    /** A registry returns the first meters of a name, whatever they read. */
    @Test
    void shouldReadTheCacheThatIsMadeAgain() {
        RowanCacheMetrics.monitor(registry, cache, Tags.of("application", "shop"));
        use();
        manager.destroyCache("books");
        cache = create();
        RowanCacheMetrics.monitor(registry, cache, Tags.of("application", "shop"));
        assertThat(counted("cache.puts")).isZero();
        use();
        use();
        assertThat(counted("cache.puts")).isEqualTo(4);
        assertThat(counted("cache.gets", "result", "hit")).isEqualTo(6);
        assertThat(gauge("cache.size")).isEqualTo(1);
        RowanCacheMetrics.monitor(registry, cache, Tags.of("application", "shop"));
        assertThat(counted("cache.puts")).as("bound twice").isEqualTo(4);
    }

    /** As Micrometer does. */
    @Test
    void shouldGoOnReadingTheFirstOfTwoOpenCaches() {
        RowanCacheMetrics.monitor(registry, cache, Tags.empty());
        try (CacheManager other = Caching.getCachingProvider()
                .getCacheManager(URI.create("rowan:embedded?name=other&capacity=16m"), null)) {
            final Cache<String, String> books = other.createCache("books", new MutableConfiguration<>());
            RowanCacheMetrics.monitor(registry, books, Tags.empty());
            books.put("k", "v");
            assertThat(counted("cache.puts")).isZero();
            cache.put("k", "v");
            assertThat(counted("cache.puts")).isEqualTo(1);
        }
    }

    /** Caches with ever new names. */
    @Timeout(120)
    @Test
    void shouldKeepNoMetersOfCachesThatAreGone() {
        for (int i = 0; i < 20; i++) {
            RowanCacheMetrics.monitor(
                    registry, manager.createCache("c" + i, new MutableConfiguration<>()), Tags.empty());
            manager.destroyCache("c" + i);
        }
        // Terminates: nothing else refers to them.
        do {
            System.gc();
            new RowanCacheMetrics(cache, Tags.empty()).bindTo(registry);
        } while (!registry.getMeters().stream()
                .allMatch(meter -> "books".equals(meter.getId().getTag("cache"))));
        assertThat(registry.getMeters()).isNotEmpty();
    }

    @Test
    void shouldReadTheStoreThatIsOpenedAgain() {
        new RowanStoreMetrics(manager, Tags.of("store", "main")).bindTo(registry);
        final URI uri = manager.getURI();
        manager.close();
        manager = Caching.getCachingProvider().getCacheManager(uri, null);
        cache = create();
        cache.put("a", "1");
        new RowanStoreMetrics(manager, Tags.of("store", "main")).bindTo(registry);
        assertThat(storeGauge("rowan.store.entries")).isPositive();
    }

    @Test
    void shouldRefuseACacheOfAnotherProvider() {
        final Cache<?, ?> other = (Cache<?, ?>) Proxy.newProxyInstance(
                Cache.class.getClassLoader(), new Class<?>[] {Cache.class}, (proxy, method, arguments) -> {
                    throw new IllegalArgumentException("is no " + arguments[0]);
                });

        assertThatThrownBy(() -> new RowanCacheMetrics(other, Tags.empty()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("RowanCache");
    }

    @Test
    void shouldShowTheStoreOfServersInThisJvm() {
        new RowanStoreMetrics(manager, Tags.of("store", "main")).bindTo(registry);
        cache.put("a", "1".repeat(100_000));
        cache.put("b", "2");

        assertThat(storeGauge("rowan.store.entries")).isGreaterThanOrEqualTo(2);
        assertThat(storeGauge("rowan.store.limit")).isPositive().isLessThan(16 << 20);
        assertThat(storeGauge("rowan.store.available"))
                .isPositive()
                .isLessThan(storeGauge("rowan.store.limit") - 100_000);
        assertThat(registry.get("rowan.store.evictions").functionCounter().count())
                .isZero();
        assertThat(registry.get("rowan.store.expirations").functionCounter().count())
                .isZero();
        assertThat(registry.get("rowan.client.reconnects").functionCounter().count())
                .isZero();
    }

    private double storeGauge(String name) {
        return registry.get(name).tags("store", "main").gauge().value();
    }

    @Test
    void shouldRefuseAManagerOfAnotherProvider() {
        final CacheManager other = (CacheManager) Proxy.newProxyInstance(
                Cache.class.getClassLoader(), new Class<?>[] {CacheManager.class}, (proxy, method, arguments) -> {
                    throw new IllegalArgumentException("is no " + arguments[0]);
                });

        assertThatThrownBy(() -> new RowanStoreMetrics(other, Tags.empty()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("RowanClient");
    }
}
