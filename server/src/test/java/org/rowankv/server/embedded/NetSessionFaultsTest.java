package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rowankv.server.embedded.Stores.bytes;
import static org.rowankv.server.embedded.Stores.numberOf;
import static org.rowankv.server.embedded.Stores.value;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.driver.BulkResult;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.VersionedValue;
import org.rowankv.driver.net.NetSession;
import org.rowankv.driver.net.NetSettings;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.ResultBits;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.frontend.ClientPortSettings;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.Routing;

/**
 * Many callers over few connections, while callers are interrupted and connections break: each receives its own answer,
 * once.
 */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class NetSessionFaultsTest {
    private EmbeddedCluster cluster;
    private EmbeddedPorts ports;

    @BeforeEach
    void open() {
        cluster = EmbeddedCluster.open(EmbeddedSettings.of(with -> {
            with.servers = 3;
            with.replicas = 2;
            with.shards = 6;
            with.workers = 2;
        }));
        ports = EmbeddedPorts.open(cluster, ClientPortSettings.at("127.0.0.1", 0));
    }

    @AfterEach
    void close() {
        ports.close();
        Stores.requireHealth(cluster);
        cluster.close();
    }

    private NetSession session(NetSettings settings) {
        return NetSession.connect(ports.addresses(), settings, SystemClock.INSTANCE);
    }

    private static RowanClient client(NetSession session) {
        return new RowanClient(session, SystemClock.INSTANCE, new SplittableRandomSource(3));
    }

    /** Each thread increments its own keys, and finds what it put. */
    private static void count(RowanClient client, int cache, int thread, int rounds) {
        for (int i = 1; i <= rounds; i++) {
            final String key = "k" + thread + "-" + i % 3;
            final byte[] before = client.getAndPut(cache, bytes(key), value(key, i, i % 40 == 0 ? 90_000 : 100))
                    .previousValue();
            assertThat(before == null ? 0 : numberOf(key, before)).isEqualTo(Math.max(0, i - 3));
            assertThat(numberOf(key, client.get(cache, bytes(key)))).isEqualTo(i);
        }
    }

    private static void inThreads(int count, java.util.function.IntConsumer body) throws InterruptedException {
        final AtomicReference<Throwable> failure = new AtomicReference<>();
        final List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            final int number = i;
            final Thread thread = new Thread(
                    () -> {
                        try {
                            body.accept(number);
                        } catch (RuntimeException | Error e) {
                            failure.compareAndSet(null, e);
                        }
                    },
                    "caller " + i);
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

    @ParameterizedTest
    @ValueSource(longs = {0, 50_000})
    void shouldAnswerEachCallerWhatItAsked(long spinNs) throws Exception {
        try (NetSession session = session(NetSettings.DEFAULT.withSpinNs(spinNs).withConnections(2, 5));
                RowanClient client = client(session)) {
            final int cache = Stores.cache(client);
            inThreads(16, thread -> count(client, cache, thread, 400));
        }
    }

    @Test
    void shouldNotLoseAConnectionToAnInterrupt() throws Exception {
        try (NetSession session = session(NetSettings.DEFAULT.withConnections(1, 64));
                RowanClient client = client(session)) {
            final int cache = Stores.cache(client);
            final Set<Thread> callers = ConcurrentHashMap.newKeySet();
            final CountDownLatch over = new CountDownLatch(8);
            client.put(cache, bytes("k"), bytes("v"));
            final Thread interrupter = new Thread(() -> {
                while (over.getCount() > 0) {
                    callers.forEach(Thread::interrupt);
                    Thread.yield();
                }
            });
            interrupter.start();
            final AtomicInteger interrupts = new AtomicInteger();
            inThreads(8, thread -> {
                callers.add(Thread.currentThread());
                try {
                    for (int i = 1; i <= 30 || interrupts.get() < 100; i++) {
                        count(client, cache, thread * 1_000_000 + i, 10);
                        if (Thread.interrupted()) {
                            interrupts.incrementAndGet();
                        }
                    }
                } finally {
                    callers.remove(Thread.currentThread());
                    over.countDown();
                }
            });
            interrupter.join();
            // One connection per server, established once.
            assertThat(session.connectionsMade()).isLessThanOrEqualTo(3);
        }
    }

    @Test
    void shouldKeepTheInterruptOfACaller() {
        try (NetSession session = session(NetSettings.DEFAULT.withSpinNs(0));
                RowanClient client = client(session)) {
            final int cache = Stores.cache(client);
            Thread.currentThread().interrupt();
            client.put(cache, bytes("k"), bytes("v"));
            assertThat(Thread.interrupted()).isTrue();
            assertThat(client.get(cache, bytes("k"))).isEqualTo(bytes("v"));
            assertThat(Thread.interrupted()).isFalse();
        }
    }

    private static Configuration later(Configuration now) {
        return new Configuration(now.clusterId(), now.hashSeed(), now.term() + 1, now.incarnations(), now.shards());
    }

    @Test
    void shouldApplyEachMutationOnceWhileConnectionsAreCut() throws Exception {
        final List<CuttingProxy> proxies = new ArrayList<>();
        final List<String> addresses = new ArrayList<>();
        for (var port : ports.ports()) {
            final CuttingProxy proxy = new CuttingProxy(port.address().getPort());
            proxies.add(proxy);
            addresses.add(proxy.address());
        }
        // The routing names the proxies' addresses.
        ports.ports().forEach(port -> port.publish(new Routing(later(cluster.configuration()), addresses)));
        try (NetSession session = session(NetSettings.DEFAULT);
                RowanClient client = client(session)) {
            final int cache = Stores.cache(client);
            final CountDownLatch over = new CountDownLatch(8);
            final Thread cutter = new Thread(() -> {
                final SplittableRandomSource random = new SplittableRandomSource(9);
                while (over.getCount() > 0) {
                    final long made = session.connectionsMade();
                    try {
                        proxies.get((int) Math.floorMod(random.nextLong(), 3L)).cut();
                    } catch (IOException e) {
                        throw new AssertionError(e);
                    }
                    // Cut again after a reconnection, so that operations progress in between.
                    while (over.getCount() > 0 && session.connectionsMade() < made + 2) {
                        Thread.yield();
                    }
                }
            });
            cutter.start();
            inThreads(8, thread -> {
                try {
                    // However seldom the cutter is scheduled.
                    for (int i = 1; i <= 10 || session.connectionsMade() <= 20; i++) {
                        count(client, cache, thread * 1_000_000 + i, 30);
                    }
                } finally {
                    over.countDown();
                }
            });
            cutter.join();
            assertThat(session.connectionsMade()).isGreaterThan(20);
        } finally {
            for (CuttingProxy proxy : proxies) {
                proxy.close();
            }
        }
    }

    @Test
    void shouldSayThatNobodyCanBeReachedAndThatTheOutcomeIsKnown() {
        final NetSettings settings = NetSettings.DEFAULT.withTimes(200_000_000, 300_000_000);
        try (NetSession session = session(settings)) {
            final RowanClient client = briefClient(session);
            final int cache = Stores.cache(client);
            client.put(cache, bytes("k"), bytes("v"));
            ports.close();
            final Request put = new Request().put(cache, bytes("k"), 0, 1, bytes("w"), 0, 1);
            // The first may have been sent, on a broken connection.
            client.execute(put);
            assertThat(put.status()).isIn(Status.UNREACHABLE, Status.OUTCOME_UNKNOWN);
            client.execute(put);
            assertThat(put.status()).isEqualTo(Status.UNREACHABLE);
            client.close();
            ports = EmbeddedPorts.open(cluster, ClientPortSettings.at("127.0.0.1", 0));
        }
        closeSessionsLeft();
    }

    private static RowanClient briefClient(NetSession session) {
        return new RowanClient(session, SystemClock.INSTANCE, new SplittableRandomSource(4), 2_000_000_000);
    }

    /** Closes the sessions that the client could not close. */
    private void closeSessionsLeft() {
        final Request request = new Request();
        for (int shard = 0; shard < cluster.configuration().shardCount(); shard++) {
            for (long id : cluster.servers()
                    .get(cluster.configuration().shard(shard).primary())
                    .replicas()
                    .get(shard)
                    .sessions()
                    .openIds()) {
                cluster.session().call(request.closeSession(shard, id));
            }
        }
    }

    @Test
    void shouldCarryOutBulksAtOnce() {
        try (NetSession session = session(NetSettings.DEFAULT.withConnections(2, 20));
                RowanClient client = client(session)) {
            final int cache = Stores.cache(client);
            final List<byte[]> keys = new ArrayList<>();
            final List<byte[]> values = new ArrayList<>();
            for (int i = 0; i < 3_000; i++) {
                keys.add(bytes("k" + i));
                values.add(value("k" + i, i, i % 500 == 0 ? 100_000 : 50));
            }
            for (BulkResult each : client.putAll(cache, keys, values)) {
                assertThat(each.failure()).isNull();
                assertThat(ResultBits.has(each.result().bits(), ResultBits.CREATED))
                        .isTrue();
            }
            final List<VersionedValue> read = client.getAll(cache, keys);
            for (int i = 0; i < keys.size(); i++) {
                assertThat(numberOf("k" + i, read.get(i).value())).isEqualTo(i);
            }
            for (BulkResult each : client.removeAll(cache, keys)) {
                assertThat(each.result().existed()).isTrue();
            }
            assertThat(client.getAll(cache, keys)).allMatch(each -> !each.isPresent());
            assertThat(client.scan(cache, false).hasNext()).isFalse();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 256})
    void shouldCompleteWhatNobodyWaitsFor(int inFlight) throws Exception {
        // Deadlines count from submission, and all operations are submitted at once.
        final long timeoutNs = 120_000_000_000L;
        try (NetSession session =
                        session(NetSettings.DEFAULT.withConnections(2, inFlight).withTimes(timeoutNs, timeoutNs));
                RowanClient client =
                        new RowanClient(session, SystemClock.INSTANCE, new SplittableRandomSource(3), timeoutNs)) {
            final int cache = Stores.cache(client);
            final AtomicInteger well = new AtomicInteger();
            final CountDownLatch done = new CountDownLatch(4 * 500);
            inThreads(4, thread -> {
                for (int i = 0; i < 500; i++) {
                    final String key = "k" + thread + "-" + i;
                    final byte[] value = value(key, i, 100);
                    final Request put = new Request().put(cache, bytes(key), 0, key.length(), value, 0, 100);
                    // Submits another operation from its callback.
                    client.executeAsync(put)
                            .thenCompose(answered ->
                                    client.executeAsync(new Request().get(cache, bytes(key), 0, key.length())))
                            .thenAccept(answered -> {
                                if (answered.status() == Status.OK
                                        && numberOf(key, answered.resultBytes())
                                                == Long.parseLong(key.substring(key.indexOf('-') + 1))) {
                                    well.incrementAndGet();
                                }
                                done.countDown();
                            });
                    if (i % 10 == 0) {
                        client.get(cache, bytes(key));
                    }
                }
            });
            done.await();
            assertThat(well).hasValue(4 * 500);
        }
    }

    @Test
    void shouldCompleteWhatNobodyWaitsForWhenItsServersAreGone() throws Exception {
        final NetSettings settings = NetSettings.DEFAULT.withTimes(200_000_000, 300_000_000);
        try (NetSession session = session(settings)) {
            final RowanClient client = briefClient(session);
            final int cache = Stores.cache(client);
            client.put(cache, bytes("k"), bytes("v"));
            ports.close();
            final Request get = client.executeAsync(new Request().get(cache, bytes("k"), 0, 1))
                    .toCompletableFuture()
                    .get();
            assertThat(get.status()).isIn(Status.UNREACHABLE, Status.NO_REPLY);
            ports = EmbeddedPorts.open(cluster, ClientPortSettings.at("127.0.0.1", 0));
            client.close();
        }
        closeSessionsLeft();
    }

    @Test
    void shouldScanValuesThatAreTooLongForAPage() {
        try (NetSession session = session(NetSettings.DEFAULT);
                RowanClient client = client(session)) {
            final int cache = Stores.cache(client);
            for (int i = 0; i < 30; i++) {
                client.put(cache, bytes("k" + i), value("k" + i, i, 700_000));
            }
            int seen = 0;
            for (var cursor = client.scan(cache, true); cursor.hasNext(); seen++) {
                final var entry = cursor.next();
                final String key = new String(entry.key(), java.nio.charset.StandardCharsets.UTF_8);
                assertThat(numberOf(key, entry.value())).isEqualTo(Long.parseLong(key.substring(1)));
            }
            assertThat(seen).isEqualTo(30);
        }
    }
}
