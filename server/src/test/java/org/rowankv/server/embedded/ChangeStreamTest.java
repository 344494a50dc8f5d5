package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.rowankv.server.embedded.Stores.bytes;
import static org.rowankv.server.embedded.Stores.value;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.api.ChangeListener;
import org.rowankv.driver.api.ChangeSubscription;
import org.rowankv.driver.api.StreamPosition;
import org.rowankv.driver.net.NetSession;
import org.rowankv.driver.net.NetSettings;
import org.rowankv.protocol.CacheLimit;
import org.rowankv.protocol.Change;
import org.rowankv.protocol.ChangeType;
import org.rowankv.protocol.Request;
import org.rowankv.runtime.HeldPort;
import org.rowankv.runtime.ManualClock;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.frontend.ClientPortSettings;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.Routing;

/** Subscribers over client ports: they receive every commit once, in order, or a report of lost changes. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class ChangeStreamTest {
    private final ManualClock clock = new ManualClock(1_000_000_000L, 1_700_000_000_000L);
    private EmbeddedCluster cluster;
    private EmbeddedPorts ports;

    @BeforeEach
    void open() {
        cluster = EmbeddedCluster.open(
                EmbeddedSettings.of(with -> {
                    with.servers = 3;
                    with.replicas = 2;
                    with.shards = 6;
                    with.workers = 3;
                }),
                clock,
                new SplittableRandomSource(17));
        ports = EmbeddedPorts.open(cluster, ClientPortSettings.at("127.0.0.1", 0));
    }

    @AfterEach
    void close() {
        ports.close();
        assertThat(cluster.errors().distinct()).isEmpty();
        cluster.close();
    }

    private NetSession session() {
        return NetSession.connect(ports.addresses(), NetSettings.DEFAULT, SystemClock.INSTANCE);
    }

    private static RowanClient client(NetSession session, long seed) {
        return new RowanClient(session, SystemClock.INSTANCE, new SplittableRandomSource(seed));
    }

    private static String text(byte[] bytes) {
        return bytes == null ? "-" : new String(bytes, StandardCharsets.UTF_8);
    }

    private static List<String> described(List<Change> changes) {
        return changes.stream()
                .map(change -> change.type() + " " + text(change.value()) + " " + text(change.oldValue()))
                .toList();
    }

    @Test
    void shouldTellWhatEveryOperationDid() {
        try (NetSession session = session();
                RowanClient client = client(session, 1)) {
            final int cache = Stores.cache(client);
            final HeardChanges heard = new HeardChanges();
            client.put(cache, bytes("k"), bytes("before"));
            try (ChangeSubscription subscription = client.subscribe(cache, true, null, heard)) {
                final long updated = client.put(cache, bytes("k"), bytes("a")).version();
                client.remove(cache, bytes("k"));
                client.remove(cache, bytes("k")); // no such object
                client.put(cache, bytes("k"), bytes("b"));
                client.putIfAbsent(cache, bytes("k"), bytes("no"));
                client.execute(new Request()
                        .put(cache, bytes("k"), 0, 1, bytes("short"), 0, 5)
                        .ttl(1_000, 1_000));
                clock.advanceMs(1_000);
                client.get(cache, bytes("k"));
                client.put(cache, bytes("k"), bytes("c"));
                client.clear(cache); // sends no event
                client.put(cache, bytes("k"), bytes("d"));
                heard.awaitCount(7);
                assertThat(described(heard.of("k")))
                        .containsExactly(
                                "UPDATED a before",
                                "REMOVED - a",
                                "CREATED b -",
                                "UPDATED short b",
                                "EXPIRED - short",
                                "CREATED c -",
                                "CREATED d -");
                assertThat(heard.of("k").get(0).version()).isEqualTo(updated);
                assertThat(heard.losses()).isZero();
                assertThat(subscription.timesLost()).isZero();
            }
        }
    }

    private interface Work {
        void run(int thread) throws Exception;
    }

    private static void inThreads(int count, Work round) throws InterruptedException {
        final AtomicReference<Throwable> failure = new AtomicReference<>();
        final List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            final int number = i;
            final Thread thread = new Thread(() -> {
                try {
                    round.run(number);
                } catch (Exception | Error e) {
                    failure.compareAndSet(null, e);
                }
            });
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        if (failure.get() != null) {
            throw new AssertionError(failure.get());
        }
    }

    /** Writes its own keys, and returns the versions of each in order. */
    private static Map<String, List<Long>> write(RowanClient client, int cache, int thread, int rounds) {
        final Map<String, List<Long>> written = new HashMap<>();
        for (int i = 1; i <= rounds; i++) {
            final String key = "k" + thread + "-" + i % 5;
            final boolean remove = i % 7 == 0;
            final var result = remove
                    ? client.remove(cache, bytes(key))
                    : client.put(cache, bytes(key), value(key, i, i % 50 == 0 ? 30_000 : 60));
            if (result.applied()) {
                written.computeIfAbsent(key, unused -> new ArrayList<>()).add(result.version());
            }
        }
        return written;
    }

    private static void requireHeard(HeardChanges heard, List<Map<String, List<Long>>> written) {
        heard.awaitCount(written.stream()
                .flatMap(each -> each.values().stream())
                .mapToInt(List::size)
                .sum());
        for (Map<String, List<Long>> each : written) {
            each.forEach((key, versions) -> assertThat(heard.versionsOf(key)).isEqualTo(versions));
        }
    }

    @Test
    void shouldTellEachCommitOnceWhileConnectionsAreCut() throws Exception {
        final List<CuttingProxy> proxies = new ArrayList<>();
        final List<String> addresses = new ArrayList<>();
        for (var port : ports.ports()) {
            final CuttingProxy proxy = new CuttingProxy(port.address().getPort());
            proxies.add(proxy);
            addresses.add(proxy.address());
        }
        final Configuration now = cluster.configuration();
        ports.ports()
                .forEach(port -> port.publish(new Routing(
                        new Configuration(
                                now.clusterId(), now.hashSeed(), now.term() + 1, now.incarnations(), now.shards()),
                        addresses)));
        try (NetSession session = session();
                RowanClient client = client(session, 1);
                NetSession hearing = session();
                RowanClient hearer = client(hearing, 2)) {
            final int cache = Stores.cache(client);
            final HeardChanges heard = new HeardChanges();
            final HeardChanges heardByTheWriter = new HeardChanges();
            try (ChangeSubscription one = hearer.subscribe(cache, false, null, heard);
                    ChangeSubscription other = client.subscribe(cache, true, null, heardByTheWriter)) {
                final CountDownLatch over = new CountDownLatch(4);
                final List<Map<String, List<Long>>> written = new ArrayList<>();
                final AtomicInteger cuts = new AtomicInteger();
                final Thread cutter = new Thread(() -> {
                    while (over.getCount() > 0) {
                        final int before = heard.count();
                        try {
                            proxies.get(cuts.incrementAndGet() % 3).cut();
                        } catch (IOException e) {
                            throw new AssertionError(e);
                        }
                        // Cut again after more changes have arrived.
                        while (over.getCount() > 0 && heard.count() < before + 20) {
                            Thread.yield();
                        }
                    }
                });
                cutter.start();
                inThreads(4, thread -> {
                    try {
                        final Map<String, List<Long>> own = write(client, cache, thread, 250);
                        synchronized (written) {
                            written.add(own);
                        }
                    } finally {
                        over.countDown();
                    }
                });
                cutter.join();
                requireHeard(heard, written);
                requireHeard(heardByTheWriter, written);
                assertThat(cuts.get()).isPositive();
                assertThat(one.timesLost() + other.timesLost()).isZero();
            }
        } finally {
            for (CuttingProxy proxy : proxies) {
                proxy.close();
            }
        }
    }

    @Test
    void shouldGoOnWhereAnotherSubscriberHasStopped() {
        try (NetSession session = session();
                RowanClient client = client(session, 1)) {
            final int cache = Stores.cache(client);
            final HeardChanges heard = new HeardChanges();
            final ChangeSubscription subscription = client.subscribe(cache, false, null, heard);
            client.put(cache, bytes("k"), bytes("a"));
            heard.awaitCount(1);
            subscription.close();
            final StreamPosition stopped = subscription.position();
            client.put(cache, bytes("k"), bytes("b"));
            client.remove(cache, bytes("k"));
            assertThat(heard.count()).isEqualTo(1);
            final HeardChanges later = new HeardChanges();
            try (NetSession another = session();
                    RowanClient hearer = client(another, 2);
                    ChangeSubscription resumed = hearer.subscribe(cache, false, stopped, later)) {
                later.awaitCount(2);
                assertThat(described(later.of("k"))).containsExactly("UPDATED b -", "REMOVED - -");
                assertThat(later.losses()).isZero();
                assertThat(resumed.position()).isNotEqualTo(stopped);
            }
            assertThatThrownBy(() -> client.subscribe(cache, false, StreamPosition.of(1, 2), later))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    /** Blocks at its first event until it is released. */
    private static final class Sleeper implements ChangeListener {
        private final HeardChanges heard = new HeardChanges();
        private final CountDownLatch begun = new CountDownLatch(1);
        private final CountDownLatch letGo = new CountDownLatch(1);

        @Override
        public void onChange(int shard, Change change) {
            begun.countDown();
            try {
                letGo.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            heard.onChange(shard, change);
        }

        @Override
        public void onEventsLost(int shard, long after, long upTo) {
            heard.onEventsLost(shard, after, upTo);
        }
    }

    @Test
    void shouldTellOldValuesOfWhatFollowsASubscriptionThatGoesOnAndWantsThem() throws Exception {
        try (NetSession session = session();
                RowanClient client = client(session, 1)) {
            final int cache = Stores.cache(client);
            final Sleeper asleep = new Sleeper(); // meanwhile the stream sends no request to that server
            final HeardChanges heard = new HeardChanges();
            final ChangeSubscription before = client.subscribe(cache, false, null, asleep);
            client.put(cache, bytes("k"), bytes("a"));
            asleep.begun.await();
            try (ChangeSubscription with = client.subscribe(cache, true, before.position(), heard)) {
                client.put(cache, bytes("k"), bytes("b"));
                asleep.letGo.countDown();
                heard.awaitCount(1);
                assertThat(described(heard.of("k"))).containsExactly("UPDATED b a");
                assertThat(with.timesLost()).isZero();
            } finally {
                asleep.letGo.countDown();
                before.close();
            }
        }
    }

    @Test
    void shouldLoseEventsOfWhoeverIsTooSlowAndHoldUpNobody() throws Exception {
        try (NetSession session = session();
                RowanClient client = client(session, 1);
                NetSession hearing = session();
                RowanClient hearer = client(hearing, 2)) {
            final int cache = Stores.cache(client);
            final Sleeper sleeper = new Sleeper();
            try (ChangeSubscription slow = hearer.subscribe(cache, false, null, sleeper)) {
                client.put(cache, bytes("k"), bytes("first"));
                sleeper.begun.await();
                long last = 0;
                // More than a shard keeps, while no subscriber reads.
                for (int i = 0; i < 6_000; i++) {
                    last = client.put(cache, bytes("k"), bytes("v" + i)).version();
                }
                sleeper.letGo.countDown();
                sleeper.heard.awaitLoss();
                final long newest = last;
                await().atMost(HeardChanges.PATIENCE)
                        .until(() -> sleeper.heard.versionsOf("k").contains(newest));
                assertThat(sleeper.heard.count()).isBetween(2, 6_000);
                assertThat(slow.timesLost()).isPositive();
            }
        }
    }

    @Test
    void shouldTellOfExpiriesThatNobodyMeetsAndOfEvictions() {
        try (NetSession session = session();
                RowanClient client = client(session, 1)) {
            final int cache = Stores.cache(client);
            final HeardChanges heard = new HeardChanges();
            try (ChangeSubscription subscription = client.subscribe(cache, false, null, heard)) {
                client.execute(new Request()
                        .put(cache, bytes("k"), 0, 1, bytes("short"), 0, 5)
                        .ttl(1_000, 1_000));
                client.execute(new Request()
                        .put(cache, bytes("k"), 0, 1, bytes("none"), 0, 4)
                        .ttl(0, 0));
                client.execute(new Request()
                        .put(cache, bytes("l"), 0, 1, bytes("short"), 0, 5)
                        .ttl(1_000, 1_000));
                // Long after the grace period of the sweep.
                clock.advanceMs(20_000);
                heard.awaitCount(4);
                assertThat(described(heard.of("k"))).containsExactly("CREATED short -", "EXPIRED - -");
                assertThat(described(heard.of("l"))).containsExactly("CREATED short -", "EXPIRED - -");
                client.catalogue().limit("c", new CacheLimit(100, 0));
                for (int i = 0; i < 1_000; i++) {
                    client.put(cache, bytes("e" + i), bytes("v"));
                }
                await().atMost(HeardChanges.PATIENCE).until(() -> {
                    int evicted = 0;
                    for (int i = 0; i < 1_000; i++) {
                        for (Change change : heard.of("e" + i)) {
                            evicted += change.type() == ChangeType.EVICTED ? 1 : 0;
                        }
                    }
                    return evicted >= 800;
                });
                assertThat(subscription.timesLost()).isZero();
            }
        }
    }

    @Test
    void shouldNotTellOfOtherCachesAndAfterTheEnd() {
        try (NetSession session = session();
                RowanClient client = client(session, 1)) {
            final int cache = Stores.cache(client);
            final int other = client.catalogue().create("other", new byte[0]).id();
            final HeardChanges heard = new HeardChanges();
            final HeardChanges ended = new HeardChanges();
            client.subscribe(cache, false, null, ended).close();
            try (ChangeSubscription subscription = client.subscribe(cache, false, null, heard)) {
                client.put(other, bytes("k"), bytes("x"));
                client.put(cache, bytes("k"), bytes("a"));
                heard.awaitCount(1);
                assertThat(described(heard.of("k"))).containsExactly("CREATED a -");
                client.catalogue().destroy("c");
                assertThat(subscription.timesLost()).isZero();
            }
            assertThat(ended.count()).isZero();
        }
    }

    @Test
    void shouldTellOthersAlthoughSomebodyAsksForACacheThatIsGone() {
        try (NetSession session = session();
                RowanClient client = client(session, 1)) {
            final int cache = Stores.cache(client);
            final int gone = client.catalogue().create("gone", new byte[0]).id();
            final HeardChanges heard = new HeardChanges();
            final HeardChanges nothing = new HeardChanges();
            try (ChangeSubscription subscription = client.subscribe(cache, false, null, heard);
                    ChangeSubscription before = client.subscribe(gone, false, null, nothing)) {
                final long connections = session.reconnects();
                client.catalogue().destroy("gone");
                try (ChangeSubscription fromNow = client.subscribe(gone, false, null, nothing);
                        ChangeSubscription onwards = client.subscribe(gone, true, before.position(), nothing)) {
                    client.put(cache, bytes("k"), bytes("a"));
                    heard.awaitCount(1);
                    assertThat(fromNow.timesLost() + onwards.timesLost()).isZero();
                }
                assertThat(session.reconnects()).isEqualTo(connections);
                assertThat(nothing.count() + nothing.losses()).isZero();
                assertThat(subscription.timesLost()).isZero();
            }
        }
    }

    @Test
    void shouldSayThatEventsMayBeLostWhenRolesAreGivenOutAnew(@TempDir Path dir) {
        final EmbeddedSettings settings = EmbeddedSettings.of(with -> {
            with.dir = dir.resolve("store");
            with.servers = 1;
            with.replicas = 1;
            with.shards = 4;
        });
        final HeldPort port = new HeldPort();
        EmbeddedCluster store = EmbeddedCluster.open(settings);
        EmbeddedPorts before = EmbeddedPorts.open(store, ClientPortSettings.at("127.0.0.1", port.number()));
        final HeardChanges heard = new HeardChanges();
        try (port;
                NetSession session = NetSession.connect(before.addresses(), NetSettings.DEFAULT, SystemClock.INSTANCE);
                RowanClient client = client(session, 1)) {
            final int cache = Stores.cache(client);
            try (ChangeSubscription subscription = client.subscribe(cache, false, null, heard)) {
                client.put(cache, bytes("k"), bytes("a"));
                heard.awaitCount(1);
                before.close();
                store.close();
                store = EmbeddedCluster.open(settings);
                before = EmbeddedPorts.open(store, ClientPortSettings.at("127.0.0.1", port.number()));
                await().atMost(HeardChanges.PATIENCE).until(() -> heard.losses() == 4);
                // An embedded store closes the sessions of its clients, which ended with it.
                final RowanClient later = client(session, 2);
                later.put(cache, bytes("k"), bytes("b"));
                later.remove(cache, bytes("k"));
                heard.awaitCount(3);
                assertThat(described(heard.of("k"))).containsExactly("CREATED a -", "UPDATED b -", "REMOVED - -");
                assertThat(subscription.timesLost()).isEqualTo(4);
                later.close();
            }
        } finally {
            before.close();
            store.close();
        }
    }
}
