package org.rowankv.jcache.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.net.URI;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import javax.cache.Cache;
import javax.cache.CacheException;
import javax.cache.CacheManager;
import javax.cache.configuration.MutableCacheEntryListenerConfiguration;
import javax.cache.configuration.MutableConfiguration;
import javax.cache.event.CacheEntryEvent;
import javax.cache.event.CacheEntryRemovedListener;
import javax.cache.event.CacheEntryUpdatedListener;
import javax.cache.event.EventType;
import javax.cache.management.CacheStatisticsMXBean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.jcache.RowanCache;
import org.rowankv.jcache.operation.Versioned;
import org.rowankv.jcache.spi.RowanCachingProvider;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.embedded.EmbeddedCluster;
import org.rowankv.server.embedded.EmbeddedPorts;
import org.rowankv.server.embedded.EmbeddedSettings;
import org.rowankv.server.frontend.ClientPortSettings;

/** The cache API with values of several segments, in this JVM and over client ports. */
@Timeout(120)
final class BigValuesTest {
    private static final int BIG = 5 << 20;

    private EmbeddedCluster cluster;
    private EmbeddedPorts ports;
    private CacheManager manager;
    private CacheManager other;

    private void open(String kind) {
        if (kind.equals("embedded")) {
            manager = manager("rowan:embedded?name=big&capacity=192m&segment=1m");
            other = manager;
            return;
        }
        cluster = EmbeddedCluster.open(
                EmbeddedSettings.of(with -> {
                    with.servers = 2;
                    with.replicas = 2;
                    with.capacityBytes = 192 << 20;
                    with.segmentBytes = 1 << 20;
                }),
                SystemClock.INSTANCE,
                new SplittableRandomSource(5));
        ports = EmbeddedPorts.open(cluster, ClientPortSettings.at("127.0.0.1", 0));
        manager = manager("rowan://" + String.join(",", ports.addresses()) + "/");
        other = manager("rowan://" + ports.addresses().get(1) + "/");
    }

    private static CacheManager manager(String uri) {
        return new RowanCachingProvider().getCacheManager(URI.create(uri), null, new Properties());
    }

    @AfterEach
    void close() {
        manager.close();
        other.close();
        if (cluster != null) {
            ports.close();
            assertThat(cluster.errors().distinct()).isEmpty();
            cluster.close();
        }
    }

    private static Cache<String, byte[]> cache(CacheManager of) {
        return of.createCache(
                "big",
                new MutableConfiguration<String, byte[]>()
                        .setTypes(String.class, byte[].class)
                        .setStatisticsEnabled(true));
    }

    /** All of its bytes depend on the number. */
    private static byte[] value(int number, int length) {
        final byte[] value = new byte[length];
        new Random(number).nextBytes(value);
        ByteBuffer.wrap(value).putInt(number);
        return value;
    }

    private static int numberOf(byte[] value) {
        final int number = ByteBuffer.wrap(value).getInt();
        assertThat(value).isEqualTo(value(number, value.length));
        return number;
    }

    private static byte[] next(javax.cache.processor.MutableEntry<String, byte[]> entry, Object... arguments) {
        final byte[] old = entry.getValue();
        entry.setValue(value(old == null ? 1 : numberOf(old) + 1, BIG));
        return old == null ? new byte[0] : old;
    }

    @ParameterizedTest
    @ValueSource(strings = {"embedded", "cluster"})
    void shouldTreatBigValuesLikeSmallOnes(String kind) {
        open(kind);
        final Cache<String, byte[]> cache = cache(manager);
        assertThat(cache.get("k")).isNull();
        cache.put("k", value(1, BIG));
        assertThat(numberOf(cache.get("k"))).isOne();
        assertThat(cache.putIfAbsent("k", value(2, BIG))).isFalse();
        assertThat(numberOf(cache.getAndPut("k", value(3, BIG)))).isOne();
        assertThat(cache.replace("k", value(4, 100))).isTrue();
        assertThat(numberOf(cache.getAndReplace("k", value(5, BIG)))).isEqualTo(4);
        assertThat(cache.containsKey("k")).isTrue();
        assertThat(numberOf(cache.getAndRemove("k"))).isEqualTo(5);
        assertThat(cache.remove("k")).isFalse();
        assertThat(cache.putIfAbsent("k", value(6, BIG))).isTrue();
        assertThat(cache.remove("k")).isTrue();
        for (int i = 1; i <= 3; i++) {
            final byte[] old = cache.invoke("k", BigValuesTest::next);
            assertThat(old).hasSize(i == 1 ? 0 : BIG);
        }
        assertThat(numberOf(cache.get("k"))).isEqualTo(3);
        final Map<String, byte[]> many = new HashMap<>();
        for (int i = 0; i < 6; i++) {
            many.put("m" + i, value(i, i % 2 == 0 ? BIG : 10));
        }
        cache.putAll(many);
        cache.getAll(many.keySet()).forEach((key, found) -> assertThat(found).isEqualTo(many.get(key)));
        final Map<String, Integer> seen = new HashMap<>();
        cache.forEach(entry -> seen.put(entry.getKey(), numberOf(entry.getValue())));
        assertThat(seen).isEqualTo(Map.of("k", 3, "m0", 0, "m1", 1, "m2", 2, "m3", 3, "m4", 4, "m5", 5));
        cache.removeAll(Set.of("m0", "m1"));
        cache.clear();
        assertThat(cache.iterator().hasNext()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"embedded", "cluster"})
    @SuppressWarnings("unchecked")
    void shouldCountAndCompareWholeValues(String kind) {
        open(kind);
        final Cache<String, byte[]> cache = cache(manager);
        final RowanCache<String, byte[]> versioned = cache.unwrap(RowanCache.class);
        cache.put("k", value(1, BIG));
        final Versioned<byte[]> first = versioned.getVersioned("k");
        assertThat(versioned.replaceIfVersion("k", value(2, BIG), first.version() + 1))
                .isFalse();
        assertThat(versioned.replaceIfVersion("k", value(2, BIG), first.version()))
                .isTrue();
        assertThat(versioned.removeIfVersion("k", first.version())).isFalse();
        assertThat(numberOf(cache.get("k"))).isEqualTo(2);
        final CacheStatisticsMXBean counts = cache.unwrap(CacheStatisticsMXBean.class);
        assertThat(counts.getCachePuts()).isEqualTo(2);
        assertThat(counts.getCacheEvictions()).isZero();
        assertThat(counts.getCacheRemovals()).isZero();
    }

    @Test
    void shouldRefuseWhatIsLongerThanTheSetting() {
        manager = manager("rowan:embedded?name=limited&capacity=64m&max-value=1m");
        other = manager;
        final Cache<String, byte[]> cache = cache(manager);
        cache.put("k", value(1, 1 << 19));
        assertThatThrownBy(() -> cache.put("k", value(2, 1 << 20)))
                .isInstanceOf(CacheException.class)
                .hasMessageContaining("max-value")
                .hasMessageContaining("nothing was stored");
        assertThat(numberOf(cache.get("k"))).isOne();
        assertThatThrownBy(() -> manager("rowan:embedded?name=refused&max-value=257m"))
                .isInstanceOf(CacheException.class)
                .hasMessageContaining("at most 256m");
    }

    /** Receives one manager's events. */
    public static final class Listener
            implements CacheEntryUpdatedListener<String, byte[]>, CacheEntryRemovedListener<String, byte[]> {
        private final Queue<String> received;

        Listener(Queue<String> received) {
            this.received = received;
        }

        @Override
        public void onUpdated(Iterable<CacheEntryEvent<? extends String, ? extends byte[]>> events) {
            events.forEach(this::receive);
        }

        @Override
        public void onRemoved(Iterable<CacheEntryEvent<? extends String, ? extends byte[]>> events) {
            events.forEach(this::receive);
        }

        private void receive(CacheEntryEvent<? extends String, ? extends byte[]> event) {
            received.add(event.getEventType() + " "
                    + (event.getEventType() == EventType.REMOVED ? "" : numberOf(event.getValue()))
                    + (event.isOldValueAvailable() ? " from " + numberOf(event.getOldValue()) : ""));
        }
    }

    private static Queue<String> listen(Cache<String, byte[]> cache, boolean oldValues) {
        final Queue<String> received = new ConcurrentLinkedQueue<>();
        cache.registerCacheEntryListener(
                new MutableCacheEntryListenerConfiguration<>(() -> new Listener(received), null, oldValues, true));
        return received;
    }

    @ParameterizedTest
    @ValueSource(strings = {"embedded", "cluster"})
    void shouldHandWholeValuesToListenersOfThisJvm(String kind) {
        open(kind);
        final Cache<String, byte[]> cache = cache(manager);
        cache.put("k", value(1, BIG));
        final Queue<String> received = listen(cache, true);
        cache.put("k", value(2, BIG));
        cache.put("k", value(3, 10));
        cache.put("k", value(4, BIG));
        cache.remove("k");
        assertThat(received)
                .containsExactly("UPDATED 2 from 1", "UPDATED 3 from 2", "UPDATED 4 from 3", "REMOVED  from 4");
    }

    @Test
    void shouldHandWholeValuesOfOtherClientsToListenersThatAskForThem() {
        open("cluster");
        final Cache<String, byte[]> cache = cache(manager);
        final Cache<String, byte[]> there = cache(other);
        cache.put("k", value(1, BIG));
        final Queue<String> received = listen(there, true);
        cache.put("k", value(2, BIG));
        await().atMost(Duration.ofSeconds(60))
                .untilAsserted(() -> assertThat(received).containsExactly("UPDATED 2"));
        cache.put("k", value(3, 10));
        cache.put("k", value(4, 20));
        await().atMost(Duration.ofSeconds(60))
                .untilAsserted(
                        () -> assertThat(received).containsExactly("UPDATED 2", "UPDATED 3", "UPDATED 4 from 3"));
        there.put("k", value(5, BIG));
        assertThat(received).contains("UPDATED 5 from 4");
    }
}
