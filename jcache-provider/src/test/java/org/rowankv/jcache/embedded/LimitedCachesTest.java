package org.rowankv.jcache.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.lang.management.ManagementFactory;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicLong;
import javax.cache.Cache;
import javax.cache.CacheManager;
import javax.cache.configuration.FactoryBuilder;
import javax.cache.configuration.MutableCacheEntryListenerConfiguration;
import javax.cache.configuration.MutableConfiguration;
import javax.cache.event.CacheEntryEvent;
import javax.cache.event.CacheEntryExpiredListener;
import javax.cache.event.CacheEntryRemovedListener;
import javax.management.ObjectName;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.jcache.spi.RowanCachingProvider;

/** Limits of caches from templates: the application's view of evictions, and the stored limit. */
class LimitedCachesTest {
    /** Receives every kind of event that the JSR has. */
    public static final class Listener
            implements CacheEntryRemovedListener<Integer, String>, CacheEntryExpiredListener<Integer, String> {
        static final AtomicLong HEARD = new AtomicLong();

        @Override
        public void onRemoved(Iterable<CacheEntryEvent<? extends Integer, ? extends String>> events) {
            events.forEach(event -> HEARD.incrementAndGet());
        }

        @Override
        public void onExpired(Iterable<CacheEntryEvent<? extends Integer, ? extends String>> events) {
            events.forEach(event -> HEARD.incrementAndGet());
        }
    }

    @TempDir
    private Path dir;

    private RowanCachingProvider provider = new RowanCachingProvider();

    @AfterEach
    void close() {
        provider.close();
    }

    private CacheManager manager(String... pairs) {
        final Properties properties = new Properties();
        properties.setProperty("rowan.dir", dir.resolve("store").toString());
        properties.setProperty("rowan.capacity", "16m");
        for (int i = 0; i < pairs.length; i += 2) {
            properties.setProperty("rowan.template." + pairs[i], pairs[i + 1]);
        }
        return provider.getCacheManager(URI.create("rowan:embedded"), getClass().getClassLoader(), properties);
    }

    private static Cache<Integer, String> cache(CacheManager manager, String name) {
        return manager.createCache(
                name,
                new MutableConfiguration<Integer, String>()
                        .setTypes(Integer.class, String.class)
                        .setStatisticsEnabled(true)
                        .addCacheEntryListenerConfiguration(new MutableCacheEntryListenerConfiguration<>(
                                FactoryBuilder.factoryOf(Listener.class), null, false, true)));
    }

    private static void put(Cache<Integer, String> cache, int from, int to) {
        for (int i = from; i < to; i++) {
            cache.put(i, "value " + i);
        }
    }

    private static int size(Cache<Integer, String> cache) {
        int size = 0;
        for (Cache.Entry<Integer, String> entry : cache) {
            assertThat(entry.getValue()).isEqualTo("value " + entry.getKey());
            size++;
        }
        return size;
    }

    private static void awaitSize(Cache<Integer, String> cache, int most) {
        await().atMost(Duration.ofSeconds(30))
                .pollInterval(Duration.ofMillis(5))
                .untilAsserted(() -> assertThat(size(cache)).isLessThanOrEqualTo(most));
    }

    private static long evictions(String name) throws Exception {
        final ObjectName bean = ManagementFactory.getPlatformMBeanServer()
                .queryNames(new ObjectName("javax.cache:type=CacheStatistics,Cache=" + name + ",*"), null)
                .iterator()
                .next();
        return (long) ManagementFactory.getPlatformMBeanServer().getAttribute(bean, "CacheEvictions");
    }

    @Test
    void shouldCountEvictionsAndFireNoEventForThem() throws Exception {
        Listener.HEARD.set(0);
        final CacheManager manager = manager("limited.max-entries", "500");
        final Cache<Integer, String> limited = cache(manager, "limited");
        final Cache<Integer, String> other = cache(manager, "other");
        put(other, 0, 1000);
        put(limited, 0, 500);
        assertThat(size(limited)).isEqualTo(500);
        assertThat(evictions("limited")).isZero();
        put(limited, 500, 3000);
        awaitSize(limited, 500);
        await().atMost(Duration.ofSeconds(30))
                .pollInterval(Duration.ofMillis(5))
                .untilAsserted(() -> assertThat(evictions("limited")).isEqualTo(3000L - size(limited)));
        assertThat(size(other)).isEqualTo(1000);
        assertThat(evictions("other")).isZero();
        assertThat(Listener.HEARD.get()).isZero();
        final long before = evictions("limited");
        manager.enableStatistics("limited", false);
        put(limited, 3000, 4000);
        awaitSize(limited, 500);
        manager.enableStatistics("limited", true);
        assertThat(evictions("limited")).as("counted while enabled").isBetween(before, before + 10);
    }

    /** A template without limits leaves the store's limit; another number, or none, replaces it. */
    @Test
    void shouldRememberTheLimitUntilATemplateSaysAnother() {
        Cache<Integer, String> limited = cache(manager("*.max-bytes", "128k"), "limited");
        put(limited, 0, 4000);
        awaitSize(limited, 2048);
        provider.close();
        provider = new RowanCachingProvider();
        limited = cache(manager(), "limited");
        put(limited, 4000, 8000);
        awaitSize(limited, 2048);
        provider.close();
        provider = new RowanCachingProvider();
        limited = cache(manager("limited.max-entries", "100"), "limited");
        awaitSize(limited, 100);
        provider.close();
        provider = new RowanCachingProvider();
        limited = cache(manager("limited.max-entries", "none"), "limited");
        put(limited, 10_000, 14_000);
        assertThat(size(limited)).isGreaterThanOrEqualTo(4000);
    }
}
