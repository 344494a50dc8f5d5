package org.rowankv.jcache.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.URI;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import javax.cache.Cache;
import javax.cache.CacheException;
import javax.cache.CacheManager;
import javax.cache.configuration.FactoryBuilder;
import javax.cache.configuration.MutableCacheEntryListenerConfiguration;
import javax.cache.configuration.MutableConfiguration;
import javax.cache.event.CacheEntryCreatedListener;
import javax.cache.event.CacheEntryEvent;
import javax.cache.expiry.CreatedExpiryPolicy;
import javax.cache.expiry.Duration;
import javax.cache.processor.MutableEntry;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rowankv.jcache.RowanCache;
import org.rowankv.jcache.spi.RowanCachingProvider;
import org.rowankv.runtime.ManualClock;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.server.embedded.EmbeddedCluster;
import org.rowankv.server.embedded.EmbeddedPorts;
import org.rowankv.server.embedded.EmbeddedSettings;
import org.rowankv.server.frontend.ClientPortSettings;

/** The cache API over client ports: two managers that share only the servers. */
@Tag("jvm")
final class ClusterCacheTest {
    private final ManualClock clock = new ManualClock(1_000_000_000L, 1_700_000_000_000L);
    private EmbeddedCluster cluster;
    private EmbeddedPorts ports;
    private CacheManager one;
    private CacheManager other;

    @BeforeEach
    void open() {
        cluster = EmbeddedCluster.open(
                EmbeddedSettings.of(with -> {
                    with.servers = 3;
                    with.replicas = 2;
                }),
                clock,
                new SplittableRandomSource(5));
        ports = EmbeddedPorts.open(cluster, ClientPortSettings.at("127.0.0.1", 0));
        // Separate connections: each URI has its own.
        one = manager(ports.addresses());
        other = manager(List.of(ports.addresses().get(2)));
    }

    private static CacheManager manager(List<String> addresses) {
        return new RowanCachingProvider()
                .getCacheManager(URI.create("rowan://" + String.join(",", addresses) + "/"), null, new Properties());
    }

    @AfterEach
    void close() {
        one.close();
        other.close();
        ports.close();
        assertThat(cluster.errors().distinct()).isEmpty();
        cluster.close();
    }

    private static Cache<String, Long> cache(CacheManager manager) {
        return manager.createCache(
                "numbers",
                new MutableConfiguration<String, Long>()
                        .setTypes(String.class, Long.class)
                        .setStatisticsEnabled(true));
    }

    private static Long increment(MutableEntry<String, Long> entry, Object... arguments) {
        final Long old = entry.getValue();
        entry.setValue(old == null ? 1 : old + 1);
        return entry.getValue();
    }

    /** By the servers, which know what each client wrote; each object once, whatever its replicas. */
    @Test
    void shouldCountTheEntriesOfAllServers() {
        final RowanCache<?, ?> there = cache(other).unwrap(RowanCache.class);
        final Cache<String, Long> here = cache(one);
        for (long i = 0; i < 300; i++) {
            here.put("k" + i, i);
        }
        here.remove("k7");
        assertThat(there.entryCount()).isEqualTo(299);
        assertThat(there.entryBytes()).isBetween(299 * 64L, 299 * 256L);
    }

    @Test
    void shouldShowOneManagersWritesToTheOther() {
        final Cache<String, Long> here = cache(one);
        final Cache<String, Long> there = cache(other);
        here.put("a", 1L);
        assertThat(there.get("a")).isEqualTo(1);
        assertThat(there.putIfAbsent("a", 2L)).isFalse();
        assertThat(there.replace("a", 1L, 3L)).isTrue();
        assertThat(here.getAndPut("a", 4L)).isEqualTo(3);
        assertThat(there.remove("a", 3L)).isFalse();
        assertThat(there.getAndRemove("a")).isEqualTo(4);
        assertThat(here.containsKey("a")).isFalse();
        final Map<String, Long> many = new HashMap<>();
        for (long i = 0; i < 500; i++) {
            many.put("k" + i, i);
        }
        here.putAll(many);
        assertThat(there.getAll(many.keySet())).isEqualTo(many);
        final Map<String, Long> seen = new HashMap<>();
        there.forEach(entry -> seen.put(entry.getKey(), entry.getValue()));
        assertThat(seen).isEqualTo(many);
        there.removeAll(new TreeSet<>(List.of("k1", "k2")));
        assertThat(here.getAll(new TreeSet<>(List.of("k1", "k2", "k3")))).containsOnlyKeys("k3");
        here.clear();
        assertThat(there.iterator().hasNext()).isFalse();
    }

    @Test
    void shouldLoseNoIncrementOfTwoManagers() throws InterruptedException {
        final List<Thread> threads = new ArrayList<>();
        for (Cache<String, Long> each : List.of(cache(one), cache(other))) {
            for (int i = 0; i < 3; i++) {
                final Thread thread = new Thread(() -> {
                    for (int n = 0; n < 200; n++) {
                        each.invoke("counter", ClusterCacheTest::increment);
                    }
                });
                threads.add(thread);
                thread.start();
            }
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(this.<String, Long>opened(one).get("counter")).isEqualTo(1_200);
    }

    private <K, V> Cache<K, V> opened(CacheManager manager) {
        return manager.getCache("numbers");
    }

    @Test
    void shouldExpireByTheServersClock() {
        final Cache<String, Long> here = one.createCache(
                "short",
                new MutableConfiguration<String, Long>()
                        .setTypes(String.class, Long.class)
                        .setExpiryPolicyFactory(CreatedExpiryPolicy.factoryOf(new Duration(TimeUnit.SECONDS, 5))));
        here.put("a", 1L);
        clock.advanceMs(4_999);
        assertThat(here.get("a")).isEqualTo(1);
        clock.advanceMs(1);
        assertThat(here.get("a")).isNull();
    }

    /** Records the events of its manager's caches. */
    public static final class Hearing implements CacheEntryCreatedListener<String, Long> {
        private static final List<String> HEARD = new ArrayList<>();

        @Override
        public void onCreated(Iterable<CacheEntryEvent<? extends String, ? extends Long>> events) {
            events.forEach(event -> HEARD.add(event.getKey() + "=" + event.getValue()));
        }
    }

    @Test
    void shouldTellListenersOfTheSameManager() {
        Hearing.HEARD.clear();
        final Cache<String, Long> here = cache(one);
        here.registerCacheEntryListener(new MutableCacheEntryListenerConfiguration<>(
                FactoryBuilder.factoryOf(Hearing.class), null, false, true));
        here.put("a", 1L);
        here.put("a", 2L);
        assertThat(Hearing.HEARD).containsExactly("a=1");
    }

    @Test
    void shouldEndACacheForBothWhenItIsDestroyed() {
        final Cache<String, Long> here = cache(one);
        final Cache<String, Long> there = cache(other);
        here.put("a", 1L);
        one.destroyCache("numbers");
        assertThatThrownBy(() -> there.get("a")).isInstanceOf(IllegalStateException.class);
        there.close();
        assertThat(cache(other).get("a")).isNull();
    }

    @Test
    void shouldSayWhichServersCannotBeReached() {
        assertThatThrownBy(() -> manager(List.of("localhost:1")))
                .isInstanceOf(CacheException.class)
                .hasMessageContaining("localhost:1");
    }
}
