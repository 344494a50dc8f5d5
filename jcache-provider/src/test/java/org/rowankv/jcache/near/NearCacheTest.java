package org.rowankv.jcache.near;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.sun.management.ThreadMXBean;
import java.io.Serializable;
import java.lang.management.ManagementFactory;
import java.lang.ref.WeakReference;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Date;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import javax.cache.Cache;
import javax.cache.CacheException;
import javax.cache.CacheManager;
import javax.cache.configuration.FactoryBuilder;
import javax.cache.configuration.MutableCacheEntryListenerConfiguration;
import javax.cache.configuration.MutableConfiguration;
import javax.cache.event.CacheEntryEvent;
import javax.cache.event.CacheEntryExpiredListener;
import javax.cache.expiry.AccessedExpiryPolicy;
import javax.cache.expiry.CreatedExpiryPolicy;
import javax.cache.expiry.ExpiryPolicy;
import javax.cache.expiry.ModifiedExpiryPolicy;
import javax.management.ObjectName;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.rowankv.driver.RowanClient;
import org.rowankv.jcache.management.RowanCacheStatisticsMXBean;
import org.rowankv.jcache.spi.RowanCachingProvider;
import org.rowankv.protocol.Request;
import org.rowankv.server.embedded.EmbeddedCluster;
import org.rowankv.server.embedded.EmbeddedPorts;
import org.rowankv.server.embedded.EmbeddedSettings;
import org.rowankv.server.frontend.ClientPortSettings;

/** Caches with {@code near=validated}: a kept value is what a read of the store would return, and nothing else. */
final class NearCacheTest {
    private final RowanCachingProvider provider = new RowanCachingProvider();

    private enum Genre {
        CRIME,
        POETRY
    }

    private record Book(String title, int pages, BigDecimal price, Genre genre, List<String> tags)
            implements Serializable {}

    private record Key(String name, int number) {}

    private record Shelf(List<Book> books, Map<String, Integer> places) implements Serializable {}

    private record Numbers(int[] numbers) implements Serializable {}

    @SuppressWarnings("UnusedVariable") // the codec reads it
    private static final class Bean implements Serializable {
        private static final long serialVersionUID = 1L;
        private String name = "bean";
    }

    @AfterEach
    void close() {
        provider.close();
    }

    private static CacheManager manager(RowanCachingProvider from, String uri, String... pairs) {
        final Properties properties = new Properties();
        properties.setProperty("rowan.template.near*.near", "validated");
        for (int i = 0; i < pairs.length; i += 2) {
            properties.setProperty(pairs[i], pairs[i + 1]);
        }
        return from.getCacheManager(URI.create(uri), null, properties);
    }

    private <K, V> Cache<K, V> cache(MutableConfiguration<K, V> configuration) {
        return manager(provider, "rowan:embedded?name=near")
                .createCache("near", configuration.setStatisticsEnabled(true));
    }

    private <K, V> Cache<K, V> cache() {
        return cache(new MutableConfiguration<>());
    }

    private static long nearHits(Cache<?, ?> cache) {
        return cache.unwrap(RowanCacheStatisticsMXBean.class).getNearCacheHits();
    }

    private static Book book(int n) {
        return new Book("A title " + n, n, new BigDecimal("12.50"), Genre.POETRY, List.of("x", "y"));
    }

    // --- what is kept ---

    private static Stream<Named<Object>> immutable() {
        return Stream.of(
                        "text",
                        1,
                        2L,
                        (short) 3,
                        (byte) 4,
                        'c',
                        true,
                        1.5,
                        2.5f,
                        new UUID(1, 2),
                        new BigInteger("12345678901234567890"),
                        new BigDecimal("1.50"),
                        Instant.EPOCH,
                        LocalDate.EPOCH,
                        Genre.CRIME,
                        List.of(),
                        List.of("a", 2L),
                        Set.of("a"),
                        Map.of("a", List.of(1)),
                        book(1),
                        new Book(null, 0, null, null, null),
                        new Shelf(List.of(book(1), book(2)), Map.of("a", 1)))
                .map(value -> Named.of(value.getClass().getSimpleName() + " " + value, value));
    }

    private static Stream<Named<Object>> mutable() {
        return Stream.of(
                        new byte[] {1},
                        new Date(5),
                        new ArrayList<>(List.of(1)),
                        Arrays.asList(1, 2),
                        List.of(new ArrayList<>()),
                        Map.of("a", new Date(1)),
                        new Bean(),
                        new Numbers(new int[] {1}),
                        new HashMap<>(),
                        new Shelf(new ArrayList<>(), Map.of()),
                        new Book("t", 1, null, null, new ArrayList<>(List.of("x"))))
                .map(value -> Named.of(value.getClass().getSimpleName() + " " + value, value));
    }

    @ParameterizedTest
    @MethodSource("immutable")
    void shouldReturnTheSameObjectAsLongAsItIsCurrent(Object value) {
        final Cache<String, Object> cache = cache();
        cache.put("k", value);
        final Object first = cache.get("k");
        assertThat(first).isEqualTo(value);
        assertThat(nearHits(cache)).isZero();
        assertThat(cache.get(new String("k"))).isSameAs(first);
        assertThat(nearHits(cache)).isOne();
        cache.put("k", "another");
        assertThat(cache.get("k")).isEqualTo("another");
        assertThat(nearHits(cache)).isOne();
    }

    @ParameterizedTest
    @MethodSource("mutable")
    void shouldGiveEachCallerACopyOfWhatMayChange(Object value) {
        final Cache<String, Object> cache = cache();
        cache.put("k", value);
        final Object first = cache.get("k");
        assertThat(first).usingRecursiveComparison().isEqualTo(value);
        assertThat(cache.get("k")).isNotSameAs(first);
        assertThat(nearHits(cache)).isZero();
    }

    @Test
    void shouldForgetAValueInWhosePlaceOneComesThatIsNotKept() {
        final Cache<String, Object> cache = cache();
        cache.put("k", "text");
        assertThat(cache.get("k")).isEqualTo(cache.get("k"));
        final List<Object> list = new ArrayList<>(List.of(1));
        cache.put("k", list);
        assertThat(cache.get("k")).isEqualTo(list).isNotSameAs(cache.get("k"));
    }

    @ParameterizedTest
    @MethodSource("keys")
    void shouldFindEqualKeysOfAllKinds(Object key, Object equal, Object different) {
        final Cache<Object, Object> cache = cache();
        cache.put(key, "value");
        final Object first = cache.get(equal);
        assertThat(cache.get(key)).isSameAs(first);
        assertThat(cache.get(equal)).isSameAs(first);
        assertThat(nearHits(cache)).isEqualTo(2);
        assertThat(cache.get(different)).isNull();
        assertThat(cache.getAll(Set.of(key, different))).isEqualTo(Map.of(key, "value"));
        assertThat(nearHits(cache)).isEqualTo(3);
        cache.remove(equal);
        assertThat(cache.get(key)).isNull();
    }

    private static Stream<Object[]> keys() {
        return Stream.of(
                new Object[] {"a", new String("a"), "b"},
                new Object[] {1L, 1L, 1},
                new Object[] {1, 1, 1L},
                new Object[] {new UUID(1, 2), new UUID(1, 2), new UUID(1, 3)},
                new Object[] {new Key("a", 1), new Key("a", 1), new Key("a", 2)},
                new Object[] {List.of("a", 1), new ArrayList<>(List.of("a", 1)), List.of("a", 2)},
                new Object[] {Genre.CRIME, Genre.CRIME, Genre.POETRY});
    }

    /** Their bytes have the same hash code. */
    @Test
    void shouldTellKeysApartByAllTheirBytes() {
        final Cache<Key, String> cache = cache();
        final List<Key> keys = List.of(new Key("Aa", 1), new Key("BB", 1), new Key("AaAa", 1), new Key("BBBB", 1));
        for (int round = 0; round < 3; round++) {
            for (Key key : keys) {
                cache.put(key, key.name() + round);
                assertThat(cache.get(key)).isEqualTo(key.name() + round).isSameAs(cache.get(key));
            }
            for (Key key : keys) {
                assertThat(cache.get(new Key(key.name(), 1))).isEqualTo(key.name() + round);
            }
        }
        assertThat(nearHits(cache)).isEqualTo(3 * 8);
    }

    @Test
    void shouldNotBeMisledByAKeyThatChanges() {
        final Cache<List<String>, String> cache = cache();
        final List<String> key = new ArrayList<>(List.of("Aa"));
        cache.put(key, "of Aa");
        assertThat(cache.get(key)).isEqualTo(cache.get(List.of("Aa")));
        key.set(0, "BB"); // the hash code stays
        assertThat(cache.get(key)).isNull();
        cache.put(key, "of BB");
        assertThat(cache.get(List.of("Aa"))).isEqualTo("of Aa");
        assertThat(cache.get(key)).isEqualTo("of BB");
        assertThatThrownBy(() -> cache.get(null)).isInstanceOf(NullPointerException.class);
    }

    // --- until when ---

    @Test
    void shouldSeeEveryKindOfChangeAtOnce() {
        final Cache<String, Book> cache = cache();
        final List<Runnable> changes = List.of(
                () -> cache.put("k", book(2)),
                () -> cache.replace("k", book(2), book(3)),
                () -> cache.getAndPut("k", book(4)),
                () -> cache.putAll(Map.of("k", book(5))),
                () -> cache.invoke("k", (entry, arguments) -> {
                    entry.setValue(book(6));
                    return null;
                }),
                () -> cache.getAndReplace("k", book(7)));
        cache.put("k", book(1));
        for (int i = 0; i < changes.size(); i++) {
            assertThat(cache.get("k").pages()).isEqualTo(i + 1);
            assertThat(cache.get("k")).isSameAs(cache.get("k"));
            changes.get(i).run();
        }
        assertThat(cache.get("k").pages()).isEqualTo(7);
        for (Runnable removal : List.<Runnable>of(
                () -> cache.remove("k"),
                () -> cache.getAndRemove("k"),
                cache::removeAll,
                cache::clear,
                () -> cache.invoke("k", (entry, arguments) -> {
                    entry.remove();
                    return null;
                }))) {
            cache.put("k", book(8));
            assertThat(cache.get("k")).isSameAs(cache.get("k"));
            removal.run();
            assertThat(cache.get("k")).isNull();
        }
    }

    @Test
    void shouldSeeWhatAnotherManagerWrites() {
        final CacheManager first = manager(provider, "rowan:embedded?name=near");
        final CacheManager second = manager(provider, "rowan:embedded?name=near&start=eager");
        final MutableConfiguration<String, Book> configuration =
                new MutableConfiguration<String, Book>().setTypes(String.class, Book.class);
        final Cache<String, Book> one = first.createCache("near", configuration);
        final Cache<String, Book> two = second.createCache("near", configuration);
        for (int i = 0; i < 10; i++) {
            one.put("k", book(i));
            assertThat(two.get("k")).isEqualTo(book(i)).isSameAs(two.get("k"));
        }
        first.destroyCache("near");
        assertThatThrownBy(() -> two.get("k")).isInstanceOf(IllegalStateException.class);
        final Cache<String, Book> anew = first.createCache("near", configuration);
        assertThat(anew.get("k")).isNull();
    }

    @Test
    void shouldEndWithTheLifetimeAndReportThat() {
        final Cache<String, String> cache = cache(new MutableConfiguration<String, String>()
                .setExpiryPolicyFactory(
                        ModifiedExpiryPolicy.factoryOf(new javax.cache.expiry.Duration(TimeUnit.MILLISECONDS, 300)))
                .addCacheEntryListenerConfiguration(new MutableCacheEntryListenerConfiguration<>(
                        FactoryBuilder.factoryOf(Ends.class), null, false, true)));
        final AtomicInteger puts = new AtomicInteger();
        // On a busy machine a lifetime may pass between two calls.
        await().atMost(Duration.ofSeconds(60)).untilAsserted(() -> {
            cache.put("k", "v");
            puts.incrementAndGet();
            final String first = cache.get("k");
            assertThat(first).isNotNull();
            assertThat(cache.get("k")).isSameAs(first);
        });
        await().atMost(Duration.ofSeconds(60)).until(() -> cache.get("k") == null);
        assertThat(Ends.KEYS).containsOnly("k").hasSizeLessThanOrEqualTo(puts.get());
        assertThat(nearHits(cache)).isPositive();
    }

    /** Remembers keys whose lifetime ended. */
    public static final class Ends implements CacheEntryExpiredListener<String, String> {
        private static final List<String> KEYS = new CopyOnWriteArrayList<>();

        @Override
        public void onExpired(Iterable<CacheEntryEvent<? extends String, ? extends String>> events) {
            events.forEach(event -> KEYS.add(event.getKey()));
        }
    }

    /** Says no lifetime for an access, as the policy of creation does, but it may at the next. */
    public static final class OwnPolicy implements ExpiryPolicy, Serializable {
        private static final long serialVersionUID = 1L;

        @Override
        public javax.cache.expiry.Duration getExpiryForCreation() {
            return javax.cache.expiry.Duration.ETERNAL;
        }

        @Override
        public javax.cache.expiry.Duration getExpiryForAccess() {
            return null;
        }

        @Override
        public javax.cache.expiry.Duration getExpiryForUpdate() {
            return null;
        }
    }

    @Test
    void shouldKeepNothingWhereAnAccessMayChangeTheLifetime() {
        final CacheManager manager = manager(provider, "rowan:embedded?name=near");
        final Cache<String, String> accessed = manager.createCache(
                "near-accessed",
                new MutableConfiguration<String, String>()
                        .setExpiryPolicyFactory(AccessedExpiryPolicy.factoryOf(javax.cache.expiry.Duration.ONE_DAY)));
        final Cache<String, String> own = manager.createCache(
                "near-own",
                new MutableConfiguration<String, String>()
                        .setExpiryPolicyFactory(FactoryBuilder.factoryOf(OwnPolicy.class)));
        for (Cache<String, String> cache : List.of(accessed, own)) {
            manager.enableStatistics(cache.getName(), true);
            cache.put("k", "v");
            assertThat(cache.get("k")).isEqualTo("v").isNotSameAs(cache.get("k"));
            assertThat(nearHits(cache)).isZero();
        }
        final Cache<String, String> created = manager.createCache(
                "near-created",
                new MutableConfiguration<String, String>()
                        .setExpiryPolicyFactory(CreatedExpiryPolicy.factoryOf(javax.cache.expiry.Duration.ONE_DAY)));
        created.put("k", "v");
        assertThat(created.get("k")).isSameAs(created.get("k"));
    }

    // --- at what cost ---

    @Test
    void shouldAllocateNothingOnAHit() {
        final Cache<Object, Book> cache = cache();
        final Object[] keys = new Object[256];
        for (int i = 0; i < keys.length; i++) {
            keys[i] = i % 2 == 0 ? "user" + i : (Object) (long) i;
            cache.put(keys[i], book(i));
        }
        final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        final int count = 20_000;
        double least = Double.MAX_VALUE;
        for (int round = 0; round < 10; round++) {
            final long before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < count; i++) {
                if (cache.get(keys[i & 255]).pages() < 0) {
                    throw new AssertionError();
                }
            }
            least = Math.min(least, (threads.getCurrentThreadAllocatedBytes() - before) / (double) count);
        }
        assertThat(least).isLessThan(2);
        assertThat(nearHits(cache)).isGreaterThan(9 * count);
    }

    @Test
    void shouldStayWithinItsBytes() {
        final CacheManager manager =
                manager(provider, "rowan:embedded?name=near", "rowan.template.near*.near-bytes", "64k");
        final RowanClient client = manager.unwrap(RowanClient.class);
        final int cacheId = client.catalogue().create("c", new byte[0]).id();
        final NearCache<String> near = new NearCache<>(client, 64 << 10);
        for (int i = 0; i < 5_000; i++) {
            final byte[] key = ("k" + i).getBytes(StandardCharsets.UTF_8);
            client.put(cacheId, key, key);
            final Request read = new Request().get(cacheId, key, 0, key.length).requestLocation(true);
            client.execute(read);
            near.keep("k" + i, read, "x".repeat(700), null);
        }
        assertThat(near.size()).isBetween(10L, 65L);
        final Cache<Integer, String> cache = manager.createCache("near", new MutableConfiguration<>());
        manager.enableStatistics("near", true);
        for (int round = 0; round < 2; round++) {
            for (int i = 0; i < 5_000; i++) {
                cache.put(i, "v" + i);
                assertThat(cache.get(i)).isEqualTo("v" + i);
            }
        }
        for (int i = 0; i < 5_000; i++) {
            assertThat(cache.get(i)).isEqualTo("v" + i);
        }
        assertThat(nearHits(cache)).isLessThan(300);
    }

    @Test
    void shouldLetValuesGoWithTheCache() {
        final Cache<String, Book> cache = cache();
        cache.put("k", book(1));
        final WeakReference<Book> kept = new WeakReference<>(cache.get("k"));
        System.gc();
        assertThat(kept.get()).isNotNull();
        cache.close();
        await().atMost(Duration.ofSeconds(60)).until(() -> {
            System.gc();
            return kept.get() == null;
        });
        assertThat(cache.isClosed()).isTrue();
    }

    // --- configuration and figures ---

    @Test
    void shouldShowItsHitsInTheBean() throws Exception {
        final Cache<String, String> cache = cache();
        cache.put("k", "v");
        for (int i = 0; i < 4; i++) {
            assertThat(cache.get("k")).isEqualTo("v");
        }
        final ObjectName name = ManagementFactory.getPlatformMBeanServer()
                .queryNames(new ObjectName("javax.cache:type=CacheStatistics,Cache=near,*"), null)
                .iterator()
                .next();
        assertThat(ManagementFactory.getPlatformMBeanServer().getAttribute(name, "NearCacheHits"))
                .isEqualTo(3L);
        assertThat(ManagementFactory.getPlatformMBeanServer().getAttribute(name, "CacheHits"))
                .isEqualTo(4L);
        cache.unwrap(RowanCacheStatisticsMXBean.class).clear();
        assertThat(nearHits(cache)).isZero();
    }

    @Test
    void shouldRefuseANearCacheOfACluster() {
        try (EmbeddedCluster cluster = EmbeddedCluster.open(EmbeddedSettings.of(with -> with.servers = 1));
                EmbeddedPorts ports = EmbeddedPorts.open(cluster, ClientPortSettings.at("127.0.0.1", 0));
                CacheManager manager =
                        manager(provider, "rowan://" + ports.addresses().get(0) + "/")) {
            assertThatThrownBy(() -> manager.createCache("near", new MutableConfiguration<>()))
                    .isInstanceOf(CacheException.class)
                    .hasMessageContaining("near")
                    .hasMessageContaining("set near=off");
            assertThat(manager.createCache("others", new MutableConfiguration<>())
                            .get("k"))
                    .isNull();
        }
    }
}
