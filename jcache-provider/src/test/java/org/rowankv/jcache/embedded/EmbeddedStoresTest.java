package org.rowankv.jcache.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.cache.Cache;
import javax.cache.CacheException;
import javax.cache.CacheManager;
import javax.cache.configuration.MutableCacheEntryListenerConfiguration;
import javax.cache.configuration.MutableConfiguration;
import javax.cache.event.CacheEntryExpiredListener;
import javax.cache.expiry.AccessedExpiryPolicy;
import javax.cache.expiry.CreatedExpiryPolicy;
import javax.cache.expiry.ExpiryPolicy;
import javax.cache.spi.CachingProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.jcache.RowanCache;
import org.rowankv.jcache.operation.CacheFullException;
import org.rowankv.jcache.spi.RowanCachingProvider;
import org.rowankv.server.embedded.EmbeddedCluster;
import org.rowankv.server.membership.ClusterShape;

/** The provider over embedded servers. */
@Tag("jvm")
class EmbeddedStoresTest {
    private final CachingProvider provider = new RowanCachingProvider();

    @AfterEach
    void close() {
        provider.close();
    }

    private CacheManager manager(String parameters) {
        return provider.getCacheManager(URI.create("rowan:embedded?" + parameters), null);
    }

    private static String dir(Path directory) {
        return "dir=" + URLEncoder.encode(directory.toString(), StandardCharsets.UTF_8);
    }

    private static MutableConfiguration<String, byte[]> bytes() {
        return new MutableConfiguration<String, byte[]>().setTypes(String.class, byte[].class);
    }

    @Test
    void shouldLeaveNoThread() {
        provider.getCacheManager().close(); // started once per JVM
        final Set<Thread> before = Set.copyOf(Thread.getAllStackTraces().keySet());
        final CacheManager manager = manager("servers=3&replicas=3");
        manager.createCache("c", bytes()).put("k", new byte[1]);
        manager.close();
        await().atMost(Duration.ofSeconds(30)).until(() -> {
            final Set<Thread> left = new HashSet<>(Thread.getAllStackTraces().keySet());
            left.removeAll(before);
            return left.stream().noneMatch(thread -> thread.getName().contains("rowan"));
        });
    }

    @Test
    void shouldEndAStoreInMemoryWithItsLastManager() {
        final CacheManager first = manager("");
        first.createCache("c", bytes()).put("k", new byte[1]);
        assertThat(first.getCache("c").unwrap(RowanCache.class).durability()).isEqualTo("none");
        first.close();
        assertThat(manager("").createCache("c", bytes()).get("k")).isNull();
    }

    /** As in applications: through their open manager. */
    @Test
    void shouldCopyAndCompareAnOpenStoreThroughItsManager(@TempDir Path directory) {
        final String shape = "servers=3&replicas=2&capacity=16m&segment=256k&";
        final CacheManager manager = manager(shape + dir(directory.resolve("store")));
        final Cache<String, byte[]> cache = manager.createCache("c", bytes());
        for (int i = 0; i < 1_000; i++) {
            cache.put("k" + i, new byte[] {(byte) i});
        }
        final EmbeddedCluster store = manager.unwrap(EmbeddedCluster.class);
        assertThat(store.verifyReplicas().findings()).isEmpty();
        store.snapshot(directory.resolve("copy"));
        cache.put("k3", new byte[] {99});
        manager.close();
        final CacheManager copied = manager(shape + dir(directory.resolve("copy")));
        final Cache<String, byte[]> again = copied.createCache("c", bytes());
        for (int i = 0; i < 1_000; i++) {
            assertThat(again.get("k" + i)).containsExactly((byte) i);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"servers=1", "servers=3&replicas=3", "servers=3&replicas=2"})
    void shouldKeepAStoreInADirectory(String shape, @TempDir Path directory) {
        final String parameters = shape + "&capacity=64m&" + dir(directory.resolve("store"));
        final CacheManager first = manager(parameters);
        final Cache<String, byte[]> cache = first.createCache("c", bytes());
        for (int i = 0; i < 1_000; i++) {
            cache.put("k" + i, new byte[] {(byte) i});
        }
        cache.remove("k7");
        assertThat(cache.unwrap(RowanCache.class).durability()).isEqualTo("process");
        first.close();
        final CacheManager second = manager(parameters);
        assertThat(second.getCacheNames()).as("nothing is open yet").isEmpty();
        assertThatThrownBy(() -> second.createCache(
                        "c", new MutableConfiguration<String, String>().setTypes(String.class, String.class)))
                .isInstanceOf(CacheException.class)
                .hasMessageContaining("another configuration");
        final Cache<String, byte[]> again = second.createCache("c", bytes());
        for (int i = 0; i < 1_000; i++) {
            if (i == 7) {
                assertThat(again.get("k7")).isNull();
            } else {
                assertThat(again.get("k" + i)).containsExactly(i);
            }
        }
        second.destroyCache("c");
        second.close();
        assertThat(manager(parameters).createCache("c", bytes()).get("k1")).isNull();
    }

    @Test
    void shouldShareADirectoryUnderAnySpellingAndRefuseOtherSettings(@TempDir Path directory) throws Exception {
        final Path store = Files.createDirectory(directory.resolve("store"));
        final Path link = Files.createSymbolicLink(directory.resolve("link"), store);
        final CacheManager first = manager("capacity=64m&" + dir(store));
        first.createCache("c", bytes()).put("k", new byte[] {5});
        try (URLClassLoader loader = new URLClassLoader(new URL[0], getClass().getClassLoader())) {
            final CachingProvider another = new RowanCachingProvider();
            final CacheManager second = another.getCacheManager(
                    URI.create("rowan:embedded?" + dir(link.resolve(".")) + "&capacity=65536k"), loader);
            assertThat(second.createCache("c", bytes()).get("k")).containsExactly(5);
            assertThatThrownBy(() -> manager("capacity=128m&" + dir(link)))
                    .isInstanceOf(CacheException.class)
                    .hasMessageContaining("created with capacity=67108864");
            first.close();
            assertThat(second.<String, byte[]>getCache("c").get("k")).containsExactly(5);
            another.close();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "servers=2&replicas=3",
                "capacity=1k",
                "segment=100k",
                "segment=8m",
                "servers=100",
                "shards=100000",
                "workers=5000",
                "max-message=100"
            })
    void shouldSayWhichSettingCannotWork(String parameters) {
        assertThatThrownBy(() -> manager(parameters))
                .isInstanceOf(CacheException.class)
                .hasMessageContaining("cannot be opened")
                .hasMessageContaining(parameters.replaceAll(".*&", "").replaceAll("=.*", ""));
        manager("").createCache("c", bytes());
    }

    @Test
    void shouldRefuseAStoreOfAnotherShape(@TempDir Path directory) throws Exception {
        final String where = dir(directory.resolve("store"));
        manager("capacity=64m&" + where).close();
        for (String other : List.of("servers=3&capacity=64m", "servers=3&replicas=3&capacity=64m", "capacity=128m")) {
            assertThatThrownBy(() -> manager(other + "&" + where))
                    .as(other)
                    .isInstanceOf(CacheException.class)
                    .hasMessageContaining("was created with");
        }
        final Path file = Files.writeString(directory.resolve("file"), "x");
        assertThatThrownBy(() -> manager(dir(file))).isInstanceOf(CacheException.class);
        manager("capacity=64m&" + where);
    }

    @Test
    void shouldTakeTheShapeOfTheStoreInTheDirectory(@TempDir Path directory) throws Exception {
        final String where = dir(directory.resolve("store"));
        final CacheManager first = manager("servers=3&replicas=2&capacity=16m&segment=256k&shards=5&" + where);
        first.createCache("c", bytes()).put("k", new byte[] {5});
        try (URLClassLoader loader = new URLClassLoader(new URL[0], getClass().getClassLoader())) {
            final CachingProvider another = new RowanCachingProvider();
            assertThat(another.getCacheManager(URI.create("rowan:embedded?" + where), loader)
                            .createCache("c", bytes())
                            .get("k"))
                    .containsExactly(5);
            another.close();
        }
        assertThatThrownBy(() -> manager("workers=7&" + where)).hasMessageContaining("open with other settings");
        assertThatThrownBy(() -> manager("servers=1&" + where)).hasMessageContaining("created with servers=3, not 1:");
        first.close();

        for (String other : List.of("servers=1", "replicas=3", "capacity=32m", "segment=128k", "shards=48")) {
            assertThatThrownBy(() -> manager(other + "&" + where))
                    .as(other)
                    .isInstanceOf(CacheException.class)
                    .hasMessageContaining("created with " + other.replaceAll("=.*", "="));
        }
        final CacheManager second = manager(where);
        assertThat(second.createCache("c", bytes()).get("k")).containsExactly(5);
        assertThat(second.unwrap(EmbeddedCluster.class).settings().shape())
                .extracting(ClusterShape::servers, ClusterShape::replicas, ClusterShape::shards)
                .containsExactly(3, 2, 5);
    }

    @Test
    void shouldRefuseWritesWhenFullAndGoOn() {
        final Cache<String, byte[]> cache =
                manager("capacity=8m&workers=4&segment=64k").createCache("c", bytes());
        final List<String> stored = new ArrayList<>();
        assertThatThrownBy(() -> {
                    for (int i = 0; i < 10_000; i++) {
                        cache.put("k" + i, new byte[10_000]);
                        stored.add("k" + i);
                    }
                })
                .isInstanceOf(CacheFullException.class)
                .hasMessageContaining("full");
        assertThat(stored).hasSizeGreaterThan(100);
        for (String key : stored) {
            assertThat(cache.get(key)).hasSize(10_000);
        }
        for (String key : stored.subList(0, stored.size() / 2)) {
            assertThat(cache.remove(key)).isTrue();
        }
        await().atMost(Duration.ofSeconds(60)).untilAsserted(() -> cache.put("after", new byte[10_000]));
    }

    /** Every access gives the entry another lifetime. */
    private static final class Accessed implements ExpiryPolicy {
        @Override
        public javax.cache.expiry.Duration getExpiryForCreation() {
            return javax.cache.expiry.Duration.ONE_HOUR;
        }

        @Override
        public javax.cache.expiry.Duration getExpiryForAccess() {
            return javax.cache.expiry.Duration.ONE_DAY;
        }

        @Override
        public javax.cache.expiry.Duration getExpiryForUpdate() {
            return javax.cache.expiry.Duration.ONE_HOUR;
        }
    }

    /**
     * The entry of another lifetime is sometimes longer, and a full store has no space for it: the access does not
     * fail.
     */
    @Test
    void shouldServeAccessesWhenFullWhateverLifetimesTheyGive() {
        final CacheManager manager = manager("capacity=4m&workers=4&segment=64k");
        final Cache<String, byte[]> asked = manager.createCache("asked", bytes().setExpiryPolicyFactory(Accessed::new));
        final Cache<String, byte[]> constant = manager.createCache(
                "constant",
                bytes().setExpiryPolicyFactory(AccessedExpiryPolicy.factoryOf(javax.cache.expiry.Duration.ONE_DAY)));
        final List<String> stored = new ArrayList<>();
        assertThatThrownBy(() -> {
                    for (int i = 0; i < 10_000; i++) {
                        (i % 2 == 0 ? asked : constant).put("k" + i, new byte[1000 + i / 2 % 64]);
                        stored.add("k" + i);
                    }
                })
                .isInstanceOf(CacheFullException.class);
        for (int i = 0; i < 256; i++) { // of every length
            final String key = stored.get(i);
            if (i % 2 == 0) {
                assertThat(asked.get(key)).isNotNull();
                assertThat(asked.replace(key, new byte[1], new byte[2])).isFalse();
                assertThat(asked.<Integer>invoke(key, (entry, unused) -> entry.getValue().length))
                        .isPositive();
            } else {
                assertThat(constant.get(key)).isNotNull();
            }
        }
        assertThat(asked.getAll(Set.copyOf(stored.subList(0, 256)))).hasSize(128);
    }

    /** Fullness is measured in bytes, for many entries or few. */
    @ParameterizedTest
    @ValueSource(ints = {100, 2_000, 40_000})
    void shouldCountBytesAndNotEntries(int valueLength) {
        final int capacity = 8 << 20;
        final Cache<String, byte[]> cache =
                manager("capacity=8m&workers=4&segment=256k").createCache("c", bytes());
        final AtomicInteger stored = new AtomicInteger();
        assertThatThrownBy(() -> {
                    for (int i = 0; i <= capacity / valueLength; i++) {
                        cache.put("k" + i, new byte[valueLength]);
                        stored.incrementAndGet();
                    }
                })
                .isInstanceOf(CacheFullException.class);
        assertThat((long) stored.get() * valueLength).isBetween(capacity / 8L, (long) capacity);
        int found = 0;
        for (Cache.Entry<String, byte[]> entry : cache) {
            assertThat(entry.getValue()).hasSize(valueLength);
            found++;
        }
        assertThat(found).as("nothing is evicted").isEqualTo(stored.get());
    }

    @Test
    void shouldRefuseAValueLargerThanTheLimit() {
        final Cache<String, byte[]> cache =
                manager("capacity=8m&workers=4&segment=64k&max-value=80k").createCache("c", bytes());
        cache.put("k", new byte[1]);
        assertThatThrownBy(() -> cache.put("k", new byte[100_000]))
                .isInstanceOf(CacheException.class)
                .hasMessageContaining("max-value");
        assertThat(cache.get("k")).hasSize(1);
        cache.put("k", new byte[50_000]);
        assertThat(cache.get("k")).hasSize(50_000);
    }

    @Test
    void shouldExpireByTheServersClock() throws Exception {
        final Cache<String, byte[]> cache = manager("")
                .createCache(
                        "c",
                        bytes().setExpiryPolicyFactory(CreatedExpiryPolicy.factoryOf(
                                new javax.cache.expiry.Duration(TimeUnit.MILLISECONDS, 50))));
        cache.put("k", new byte[1]);
        await().atMost(Duration.ofSeconds(30)).until(() -> cache.get("k") == null);
    }

    /** Entries that are never read again free space by their expiry, without an event. */
    @Test
    void shouldGoOnWithWhatExpiresAndIsNeverRead() {
        final Cache<String, byte[]> cache = manager("capacity=8m&workers=4&segment=64k")
                .createCache(
                        "c",
                        bytes().setExpiryPolicyFactory(CreatedExpiryPolicy.factoryOf(
                                new javax.cache.expiry.Duration(TimeUnit.MILLISECONDS, 1))));
        final AtomicInteger events = new AtomicInteger();
        final CacheEntryExpiredListener<String, byte[]> listener = expired -> expired.forEach(e -> events.addAndGet(1));
        cache.registerCacheEntryListener(
                new MutableCacheEntryListenerConfiguration<>(() -> listener, null, false, true));
        for (int i = 0; i < 5_000; i++) {
            cache.put("k" + i, new byte[10_000]);
        }
        assertThat(events).hasValue(0);
    }

    @Test
    void shouldLoseNoInvocationWithThreeServers() throws Exception {
        final Cache<String, Long> cache = manager("servers=3&replicas=3")
                .createCache("c", new MutableConfiguration<String, Long>().setTypes(String.class, Long.class));
        final List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < 8; t++) {
            final Thread thread = new Thread(() -> {
                for (int i = 0; i < 2_000; i++) {
                    cache.invoke("k" + i % 2, (entry, arguments) -> {
                        entry.setValue(entry.exists() ? entry.getValue() + 1 : 1);
                        return null;
                    });
                }
            });
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(cache.get("k0") + cache.get("k1")).isEqualTo(16_000);
    }
}
