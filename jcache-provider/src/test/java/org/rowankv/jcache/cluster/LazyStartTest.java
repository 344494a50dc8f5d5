package org.rowankv.jcache.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.lang.management.ManagementFactory;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.cache.Cache;
import javax.cache.CacheException;
import javax.cache.CacheManager;
import javax.cache.configuration.MutableCacheEntryListenerConfiguration;
import javax.cache.configuration.MutableConfiguration;
import javax.cache.event.CacheEntryCreatedListener;
import javax.cache.management.CacheStatisticsMXBean;
import javax.management.ObjectName;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rowankv.driver.RowanClient;
import org.rowankv.jcache.RowanCache;
import org.rowankv.jcache.management.RowanCacheStatisticsMXBean;
import org.rowankv.jcache.spi.RowanCachingProvider;
import org.rowankv.runtime.HeldPort;
import org.rowankv.server.embedded.EmbeddedCluster;
import org.rowankv.server.embedded.EmbeddedPorts;
import org.rowankv.server.embedded.EmbeddedSettings;
import org.rowankv.server.frontend.ClientPortSettings;

/** Managers that open before their cluster does. */
@Timeout(120)
final class LazyStartTest {
    private final RowanCachingProvider provider = new RowanCachingProvider();
    private final HeldPort held = new HeldPort();
    private final int port = held.number();

    @AfterEach
    void shouldLeaveNoThread() {
        provider.close();
        held.close();
        await().untilAsserted(() -> assertThat(Thread.getAllStackTraces().keySet())
                .extracting(Thread::getName)
                .doesNotContain("rowan-lazy-start"));
    }

    private CacheManager manager(String start) {
        return provider.getCacheManager(
                URI.create("rowan://127.0.0.1:" + port + "/?operation-timeout=2&start=" + start), null);
    }

    private static MutableConfiguration<String, String> strings() {
        return new MutableConfiguration<String, String>()
                .setTypes(String.class, String.class)
                .setStatisticsEnabled(true);
    }

    private static List<Runnable> changes(Cache<String, String> cache) {
        return List.of(
                () -> cache.put("k", "v"),
                () -> cache.putAll(Map.of("k", "v")),
                () -> cache.putIfAbsent("k", "v"),
                () -> cache.getAndPut("k", "v"),
                () -> cache.remove("k"),
                () -> cache.remove("k", "v"),
                () -> cache.getAndRemove("k"),
                () -> cache.replace("k", "v"),
                () -> cache.replace("k", "v", "w"),
                () -> cache.getAndReplace("k", "v"),
                cache::removeAll,
                () -> cache.removeAll(Set.of("k")),
                cache::clear,
                () -> cache.invoke("k", (entry, arguments) -> null),
                () -> cache.loadAll(Set.of("k"), true, null),
                () -> cache.getCacheManager().destroyCache("other"));
    }

    @Test
    void shouldMissAndRefuseChangesUntilTheClusterIsReached() throws Exception {
        final CacheManager manager = manager("lazy");
        final Cache<String, String> cache = manager.createCache("books", strings());
        assertThat(manager.<String, String>getCache("books", String.class, String.class))
                .isSameAs(cache);
        assertThatThrownBy(() -> manager.createCache("books", strings())).isInstanceOf(CacheException.class);
        assertThat(cache.get("k")).isNull();
        assertThat(cache.getAll(Set.of("k"))).isEmpty();
        assertThat(cache.containsKey("k")).isFalse();
        assertThat(cache.iterator()).isExhausted();
        assertThat(cache.unwrap(RowanCache.class).keys().iterator().hasNext()).isFalse();
        assertThat(cache.unwrap(CacheStatisticsMXBean.class).getCacheMisses()).isZero();
        assertThat(cache.unwrap(RowanCacheStatisticsMXBean.class).getNearCacheHits())
                .isZero();
        for (Runnable change : changes(cache)) {
            assertThatThrownBy(change::run)
                    .isInstanceOf(CacheException.class)
                    .hasMessageContaining("start=lazy")
                    .hasMessageContaining("127.0.0.1:" + port);
        }
        assertThatThrownBy(() -> manager.unwrap(RowanClient.class))
                .as("the question of a health check")
                .isInstanceOf(CacheException.class);

        final List<String> created = new ArrayList<>();
        try (EmbeddedCluster cluster = EmbeddedCluster.open(EmbeddedSettings.of(with -> with.servers = 1));
                EmbeddedPorts ports = EmbeddedPorts.open(cluster, ClientPortSettings.at("127.0.0.1", port))) {
            assertThat(ports.addresses()).containsExactly("127.0.0.1:" + port);
            await().ignoreExceptionsInstanceOf(CacheException.class).until(() -> {
                cache.put("k", "v");
                return true;
            });
            assertThat(cache.get("k")).isEqualTo("v");
            assertThat(manager.<String, String>getCache("books", String.class, String.class))
                    .isSameAs(cache);
            assertThat(cache.unwrap(CacheStatisticsMXBean.class).getCacheHits()).isEqualTo(1);
            assertThat(ManagementFactory.getPlatformMBeanServer()
                            .queryNames(new ObjectName("javax.cache:type=CacheStatistics,Cache=books,*"), null))
                    .hasSize(1);
            cache.registerCacheEntryListener(new MutableCacheEntryListenerConfiguration<>(
                    () -> (CacheEntryCreatedListener<String, String>)
                            events -> events.forEach(event -> created.add(event.getKey())),
                    null,
                    false,
                    true));
            cache.put("l", "v");
            assertThat(created).containsExactly("l");
            assertThat(manager.unwrap(RowanClient.class).isRemote()).isTrue();
            cache.close();
            assertThat(cache.isClosed()).isTrue();
            assertThat(manager.<Object, Object>getCache("books")).isNull();
            manager.close();
        }
    }

    /** A miss would say that the loader's system has no such value. */
    @Test
    void shouldNotMissWhereAReadWouldLoad() {
        final Cache<String, String> cache =
                manager("lazy").createCache("books", strings().setReadThrough(true));
        assertThatThrownBy(() -> cache.get("k"))
                .isInstanceOf(CacheException.class)
                .hasMessageContaining("start=lazy");
        assertThatThrownBy(() -> cache.getAll(Set.of("k"))).isInstanceOf(CacheException.class);
        assertThat(cache.containsKey("k")).isFalse();
    }

    @Test
    void shouldCloseBeforeTheClusterIsReached() {
        final CacheManager manager = manager("lazy");
        final Cache<String, String> cache = manager.createCache("books", strings());
        manager.close();
        assertThat(cache.isClosed()).isTrue();
        assertThatThrownBy(() -> cache.get("k")).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void shouldRefuseAtOnceWhatNeedsNoStore() {
        final CacheManager manager = manager("lazy");
        assertThatThrownBy(() -> manager.createCache("", strings())).isInstanceOf(CacheException.class);
        assertThatThrownBy(() -> manager.createCache("books", strings().setStoreByValue(false)))
                .isInstanceOf(UnsupportedOperationException.class);
    }

    @Test
    void shouldFailWithoutTheSetting() {
        assertThatThrownBy(() -> manager("eager"))
                .isInstanceOf(CacheException.class)
                .hasMessageContaining("cannot be used");
    }

    /** Of a cluster that is there, nothing differs. */
    @Test
    void shouldOpenCachesAtOnceWhereTheClusterIsReached() {
        try (EmbeddedCluster cluster = EmbeddedCluster.open(EmbeddedSettings.of(with -> with.servers = 1));
                EmbeddedPorts ports = EmbeddedPorts.open(cluster, ClientPortSettings.at("127.0.0.1", port))) {
            assertThat(ports.addresses()).hasSize(1);
            final CacheManager manager = manager("lazy");
            final Cache<String, String> cache = manager.createCache("books", strings());
            cache.put("k", "v");
            assertThat(cache.get("k")).isEqualTo("v");
            assertThat(cache.unwrap(RowanCache.class).durability()).isNotEmpty();
            manager.close();
        }
    }
}
