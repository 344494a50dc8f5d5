package org.rowankv.check.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.cache.Cache;
import javax.cache.CacheException;
import javax.cache.CacheManager;
import javax.cache.configuration.MutableConfiguration;
import javax.cache.expiry.CreatedExpiryPolicy;
import javax.cache.expiry.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.check.disturb.KillingProxy;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.api.ChangeListener;
import org.rowankv.driver.api.ChangeSubscription;
import org.rowankv.jcache.RowanCache;
import org.rowankv.jcache.spi.RowanCachingProvider;
import org.rowankv.protocol.Change;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.HeldPort;
import org.rowankv.runtime.ManualClock;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.embedded.EmbeddedCluster;
import org.rowankv.server.embedded.EmbeddedPorts;
import org.rowankv.server.embedded.EmbeddedSettings;
import org.rowankv.server.frontend.ClientPort;
import org.rowankv.server.frontend.ClientPortSettings;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.Routing;

/** Listeners of two providers that share only the servers, like two JVMs. */
final class ClusterListenersTest {
    private static final int SHARDS = 6;

    private EmbeddedCluster cluster;
    private EmbeddedPorts ports;
    private final List<CacheManager> managers = new ArrayList<>();
    private final HeldPort held = new HeldPort();

    private void open(Clock clock) {
        cluster = EmbeddedCluster.open(
                EmbeddedSettings.of(with -> {
                    with.servers = 3;
                    with.replicas = 2;
                    with.shards = SHARDS;
                }),
                clock,
                new SplittableRandomSource(5));
        ports = EmbeddedPorts.open(cluster, ClientPortSettings.at("127.0.0.1", 0));
    }

    private CacheManager manager(List<String> addresses) {
        final CacheManager manager = new RowanCachingProvider()
                .getCacheManager(URI.create("rowan://" + String.join(",", addresses) + "/"), null, new Properties());
        managers.add(manager);
        return manager;
    }

    private Cache<String, Long> cache(List<String> addresses) {
        return manager(addresses)
                .createCache(
                        "numbers",
                        new MutableConfiguration<String, Long>()
                                .setTypes(String.class, Long.class)
                                .setExpiryPolicyFactory(
                                        CreatedExpiryPolicy.factoryOf(new Duration(TimeUnit.SECONDS, 100))));
    }

    @AfterEach
    void close() {
        managers.forEach(CacheManager::close);
        held.close();
        if (ports != null) {
            ports.close();
            assertThat(cluster.errors().distinct()).isEmpty();
            cluster.close();
        }
    }

    private static void awaitTexts(HeardEvents heard, int count) {
        await().atMost(HeardEvents.PATIENCE).until(() -> heard.texts().size() >= count);
    }

    /** Writes a marker to every shard, so that everything before it has arrived. */
    private static void awaitMarkers(Cache<String, Long> writer, String name, HeardEvents... all) {
        for (long i = 0; i < 20 * SHARDS; i++) {
            writer.put(name + i, i);
        }
        for (HeardEvents each : all) {
            await().atMost(HeardEvents.PATIENCE)
                    .until(() -> each.texts().stream()
                                    .filter(text -> text.startsWith("CREATED " + name))
                                    .count()
                            == 20 * SHARDS);
        }
    }

    @Test
    void shouldTellListenersWhatTheOtherJvmDid() {
        open(SystemClock.INSTANCE);
        final Cache<String, Long> here = cache(ports.addresses());
        final Cache<String, Long> there = cache(List.of(ports.addresses().get(1)));
        final HeardEvents atOnce = new HeardEvents();
        final HeardEvents later = new HeardEvents();
        final HeardEvents withoutOld = new HeardEvents();
        here.registerCacheEntryListener(withoutOld.configuration(false, false));
        here.registerCacheEntryListener(atOnce.configuration(true, true));
        here.registerCacheEntryListener(later.configuration(true, false));
        there.put("a", 1L);
        there.put("a", 2L);
        there.invoke("a", (entry, arguments) -> {
            entry.setValue(3L);
            return null;
        });
        there.remove("a");
        for (HeardEvents each : List.of(atOnce, later)) {
            awaitTexts(each, 4);
            assertThat(each.texts())
                    .containsExactly("CREATED a=1", "UPDATED a=2 old 1", "UPDATED a=3 old 2", "REMOVED a=3 old 3");
        }
        awaitTexts(withoutOld, 4);
        assertThat(withoutOld.texts()).containsExactly("CREATED a=1", "UPDATED a=2", "UPDATED a=3", "REMOVED a=null");
        here.put("b", 1L);
        assertThat(atOnce.texts())
                .hasSize(5)
                .last()
                .isEqualTo("CREATED b=1"); // received by the time the operation returned
        there.clear(); // sends no events
        awaitMarkers(there, "marker", atOnce, later, withoutOld);
        assertThat(atOnce.texts()).hasSize(5 + 20 * SHARDS);
        assertThat(later.versions()).containsExactlyInAnyOrderElementsOf(atOnce.versions());
        assertThat(here.unwrap(RowanCache.class).lostEventCount()).isZero();
        assertThat(atOnce.losses() + later.losses()).isZero();
    }

    @Test
    void shouldTellOfEachExpiryOnceWhoeverMeetsIt() {
        final ManualClock clock = new ManualClock(1_000_000_000L, 1_700_000_000_000L);
        open(clock);
        final Cache<String, Long> here = cache(ports.addresses());
        final Cache<String, Long> there = cache(List.of(ports.addresses().get(1)));
        final HeardEvents heardHere = new HeardEvents();
        final HeardEvents heardThere = new HeardEvents();
        here.registerCacheEntryListener(heardHere.configuration(true, true));
        there.registerCacheEntryListener(heardThere.configuration(false, false));
        for (long i = 0; i < 10; i++) {
            here.put("k" + i, i);
        }
        clock.advanceMs(100_000);
        assertThat(here.get("k0")).isNull();
        assertThat(here.putIfAbsent("k1", 11L)).isTrue();
        assertThat(here.remove("k2")).isFalse();
        assertThat(here.replace("k3", 13L)).isFalse();
        assertThat(there.get("k4")).isNull();
        assertThat(there.getAndPut("k5", 15L)).isNull();
        assertThat(heardHere.texts()).contains("EXPIRED k0=0 old 0", "EXPIRED k1=1 old 1", "EXPIRED k2=2 old 2");
        clock.advanceMs(20_000); // an object that is never read is removed by the servers
        for (HeardEvents each : List.of(heardHere, heardThere)) {
            await().atMost(HeardEvents.PATIENCE)
                    .until(() -> each.texts().stream()
                                    .filter(text -> text.startsWith("EXPIRED"))
                                    .count()
                            >= 10);
        }
        awaitMarkers(there, "marker", heardHere, heardThere);
        for (HeardEvents each : List.of(heardHere, heardThere)) {
            final List<String> expired = each.texts().stream()
                    .filter(text -> text.startsWith("EXPIRED"))
                    .map(text -> text.substring(0, text.indexOf('=')))
                    .toList();
            assertThat(expired).doesNotHaveDuplicates().hasSize(10);
            assertThat(each.texts()).hasSize(10 + 10 + 2 + 20 * SHARDS);
        }
    }

    /** The events that servers send to a client whose connections are never killed. */
    private static final class Truth implements ChangeListener {
        private final ConcurrentLinkedQueue<Long> versions = new ConcurrentLinkedQueue<>();
        private volatile boolean lost;

        @Override
        public void onChange(int shard, Change change) {
            versions.add(change.version());
        }

        @Override
        public void onEventsLost(int shard, long after, long upTo) {
            lost = true;
        }
    }

    @Test
    void shouldTellEachChangeOnceWhileConnectionsAreKilled() throws Exception {
        open(SystemClock.INSTANCE);
        final List<KillingProxy> proxies = new ArrayList<>();
        final List<String> addresses = new ArrayList<>();
        try (RowanClient watcher = RowanClient.connect(ports.addresses())) {
            for (ClientPort port : ports.ports()) {
                final KillingProxy proxy = new KillingProxy();
                proxy.target(port.address());
                proxies.add(proxy);
                addresses.add(proxy.address());
            }
            final Truth truth = new Truth();
            final Cache<String, Long> seed = cache(ports.addresses());
            final int cacheId = watcher.catalogue().find("numbers").id();
            try (ChangeSubscription subscription = watcher.subscribe(cacheId, false, null, truth)) {
                final Configuration now = cluster.configuration();
                ports.ports()
                        .forEach(port -> port.publish(new Routing(
                                new Configuration(
                                        now.clusterId(),
                                        now.hashSeed(),
                                        now.term() + 1,
                                        now.incarnations(),
                                        now.shards()),
                                addresses)));
                final Cache<String, Long> here = cache(addresses);
                final Cache<String, Long> there = cache(List.of(addresses.get(2), addresses.get(0)));
                final List<HeardEvents> all = new ArrayList<>();
                for (Cache<String, Long> each : List.of(here, there)) {
                    for (boolean synchronous : new boolean[] {true, false}) {
                        final HeardEvents heard = new HeardEvents();
                        each.registerCacheEntryListener(heard.configuration(false, synchronous));
                        all.add(heard);
                    }
                }
                disturb(here, there, proxies, all.get(0));
                awaitMarkers(seed, "marker", all.toArray(new HeardEvents[0]));
                await().atMost(HeardEvents.PATIENCE)
                        .until(() -> truth.versions.size()
                                >= all.stream()
                                        .mapToInt(each -> each.versions().size())
                                        .max()
                                        .orElseThrow());
                assertThat(truth.lost).isFalse();
                assertThat(subscription.timesLost()).isZero();
                for (HeardEvents each : all) {
                    assertThat(each.losses()).isZero();
                    assertThat(each.versions()).doesNotHaveDuplicates().hasSameSizeAs(truth.versions);
                }
            }
        } finally {
            managers.forEach(CacheManager::close);
            proxies.forEach(KillingProxy::close);
        }
    }

    private static void disturb(
            Cache<String, Long> here, Cache<String, Long> there, List<KillingProxy> proxies, HeardEvents heard)
            throws InterruptedException {
        final int writers = 4;
        final CountDownLatch over = new CountDownLatch(writers);
        final ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();
        for (int writer = 0; writer < writers; writer++) {
            final Cache<String, Long> cache = writer % 2 == 0 ? here : there;
            final int from = writer;
            new Thread(() -> {
                        try {
                            for (int i = 0; i < 150; i++) {
                                write(cache, "k" + (from + i) % 7, i);
                            }
                        } catch (RuntimeException | Error e) {
                            failures.add(e);
                        } finally {
                            over.countDown();
                        }
                    })
                    .start();
        }
        final SplittableRandomSource random = new SplittableRandomSource(11);
        while (over.getCount() > 0) {
            final int before = heard.versions().size();
            proxies.get(random.nextInt(proxies.size())).killOne(random);
            while (over.getCount() > 0 && heard.versions().size() < before + 10) {
                Thread.yield();
            }
        }
        assertThat(failures).isEmpty();
        assertThat(proxies.stream().mapToLong(KillingProxy::killed).sum()).isPositive();
    }

    private static void write(Cache<String, Long> cache, String key, long number) {
        try {
            switch ((int) number % 4) {
                case 0 -> cache.remove(key);
                case 1 -> cache.getAndPut(key, number);
                case 2 ->
                    cache.invoke(key, (entry, arguments) -> {
                        entry.setValue(number);
                        return null;
                    });
                default -> cache.put(key, number);
            }
        } catch (CacheException e) {
            // The outcome was not known in time: if it took effect, the stream shows it.
            assertThat(e).hasMessageContaining("deadline");
        }
    }

    @Test
    void shouldSayWhenEventsMayBeLost(@TempDir Path dir) {
        final EmbeddedSettings settings = EmbeddedSettings.of(with -> {
            with.dir = dir.resolve("store");
            with.servers = 1;
            with.replicas = 1;
            with.shards = 4;
        });
        cluster = EmbeddedCluster.open(settings);
        ports = EmbeddedPorts.open(cluster, ClientPortSettings.at("127.0.0.1", held.number()));
        final Cache<String, Long> here = cache(ports.addresses());
        final HeardEvents heard = new HeardEvents();
        here.registerCacheEntryListener(heard.configuration(false, true));
        here.put("a", 1L);
        ports.close();
        cluster.close();
        cluster = EmbeddedCluster.open(settings);
        ports = EmbeddedPorts.open(cluster, ClientPortSettings.at("127.0.0.1", held.number()));
        await().atMost(HeardEvents.PATIENCE).until(() -> heard.losses() == 4);
        assertThat(here.unwrap(RowanCache.class).lostEventCount()).isEqualTo(4);
        final Cache<String, Long> there = cache(ports.addresses());
        there.put("a", 2L);
        there.put("b", 1L);
        awaitTexts(heard, 3);
        assertThat(heard.texts()).containsExactlyInAnyOrder("CREATED a=1", "UPDATED a=2", "CREATED b=1");
    }
}
