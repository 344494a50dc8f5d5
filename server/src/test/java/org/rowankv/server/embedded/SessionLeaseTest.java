package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.rowankv.server.embedded.Stores.bytes;
import static org.rowankv.server.embedded.Stores.numberOf;
import static org.rowankv.server.embedded.Stores.value;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.api.ForwardingSession;
import org.rowankv.driver.api.RowanException;
import org.rowankv.driver.api.Session;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.ResultBits;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.Chaos;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.engine.Server;
import org.rowankv.server.engine.ServerStatistics;
import org.rowankv.server.retention.SessionLeaseAgent;
import org.rowankv.topology.KeyHash;
import org.rowankv.topology.ShardMap;

/** Sessions of vanished clients are ended, sessions in use never; a returning client receives SESSION_EXPIRED. */
final class SessionLeaseTest {
    private static final int SERVERS = 3;
    /** Far longer than a test: its time advances by leaps alone. */
    private static final long TICK_NS = TimeUnit.HOURS.toNanos(10);

    private static final long SESSION = 77;

    @TempDir
    private Path dir;

    private final LeapClock clock = new LeapClock();
    private EmbeddedCluster cluster;

    private void open(@Nullable Path directory) {
        open(directory, TICK_NS);
    }

    private void open(@Nullable Path directory, long tickNs) {
        final Consumer<EmbeddedSettings.Builder> settings = with -> {
            with.servers = SERVERS;
            with.replicas = 2;
            with.shards = SERVERS;
            with.workers = 4;
            with.capacityBytes = 4 << 20;
            with.maxMessage = 2048;
        };
        final EmbeddedContext usual = EmbeddedContext.of(clock, new SplittableRandomSource(5));
        cluster = EmbeddedCluster.open(
                EmbeddedSettings.of(settings.andThen(with -> with.dir = directory)),
                new EmbeddedContext(
                        usual.clocks(),
                        usual.random(),
                        usual.scheduling(),
                        usual.fabric(),
                        usual.memories(),
                        usual.areaMachine(),
                        with -> with.sessionLeaseNs = SessionLeaseAgent.TICKS * tickNs,
                        usual.scanThreads(),
                        false));
    }

    @AfterEach
    void close() {
        Chaos.reset();
        Stores.requireHealth(cluster);
        cluster.close();
    }

    /** Advances time by a tick, until every server has noticed. */
    private void tick() {
        final List<Long> before = new ArrayList<>();
        cluster.servers()
                .forEach(server ->
                        before.add(server.retentionAgents().sessionLeases().ticks()));
        clock.leap(TICK_NS);
        await().atMost(Duration.ofSeconds(60)).until(() -> {
            for (Server server : cluster.servers()) {
                server.wakeUp();
                if (server.retentionAgents().sessionLeases().ticks() == before.get(server.serverId())) {
                    return false;
                }
            }
            return true;
        });
    }

    /** Advances time so far that silent sessions are ended. */
    private void lease() {
        for (int i = 0; i <= SessionLeaseAgent.TICKS; i++) {
            tick();
        }
        await().atMost(Duration.ofSeconds(60))
                .until(() -> cluster.servers().stream()
                        .allMatch(server ->
                                server.retentionAgents().sessionLeases().isIdle()));
        cluster.awaitDigested();
    }

    private long sum(java.util.function.ToLongFunction<ServerStatistics> of) {
        return cluster.statistics().stream().mapToLong(of).sum();
    }

    private int openAtPrimaries() {
        int count = 0;
        for (int shard = 0; shard < cluster.configuration().shardCount(); shard++) {
            count += cluster.servers()
                    .get(cluster.configuration().shard(shard).primary())
                    .replicas()
                    .get(shard)
                    .sessions()
                    .openIds()
                    .length;
        }
        return count;
    }

    private Request deliver(long session, String key, long number, long sequence) {
        final byte[] value = value(key, number, 300);
        final Request request = new Request()
                .put(1, bytes(key), 0, key.length(), value, 0, value.length)
                .requestValue(true);
        final long hash = new KeyHash(cluster.configuration().hashSeed()).hash(1, bytes(key), 0, key.length());
        request.placed(hash, ShardMap.shardOf(hash, cluster.configuration().shardCount()));
        request.identified(session, sequence, 0);
        cluster.session().call(request);
        return request;
    }

    private void openSession(long session) {
        for (int shard = 0; shard < cluster.configuration().shardCount(); shard++) {
            assertThat(Stores.openSession(cluster, shard, session).status()).isEqualTo(Status.OK);
        }
    }

    @Test
    void shouldEndTheSessionsOfDeadClientsOnAllReplicas() {
        open(null);
        for (int dead = 0; dead < 5; dead++) {
            final RowanClient client = Stores.client(cluster, dead);
            final int cache = Stores.cache(client);
            for (int i = 0; i < 30; i++) {
                client.put(cache, bytes("k" + i), value("k" + i, dead, 500));
            }
        }
        cluster.awaitDigested();
        final int open = openAtPrimaries();
        assertThat(open).isPositive();
        assertThat(sum(ServerStatistics::openSessions)).isEqualTo(2L * open);

        lease();

        assertThat(openAtPrimaries()).isZero();
        assertThat(sum(ServerStatistics::openSessions)).isZero();
        assertThat(sum(ServerStatistics::endedSessions)).isEqualTo(open);
        try (RowanClient client = Stores.client(cluster, 100)) {
            final int cache = Stores.cache(client);
            for (int i = 0; i < 30; i++) {
                assertThat(numberOf("k" + i, client.get(cache, bytes("k" + i)))).isEqualTo(4);
            }
        }
        Stores.requireExactSpace(cluster);
    }

    @Test
    void shouldKeepWhatIsUsedIfOnlyByRetries() {
        open(null);
        Stores.cache(Stores.client(cluster));
        openSession(SESSION);
        openSession(SESSION + 1);
        final Request first = deliver(SESSION, "k", 1, 1);
        for (int i = 0; i < 4 * SessionLeaseAgent.TICKS; i++) {
            tick();
            final Request again = deliver(SESSION, "k", 1, 1);
            assertThat(again.status()).isEqualTo(Status.OK);
            assertThat(again.version()).isEqualTo(first.version());
            assertThat(again.has(ResultBits.REPLAYED)).isTrue();
        }

        // The other session, and other shards, received no requests.
        assertThat(openAtPrimaries()).isEqualTo(1);
        assertThat(deliver(SESSION, "k", 2, 2).status()).isEqualTo(Status.OK);
        assertThat(deliver(SESSION + 1, "k", 3, 1).status()).isEqualTo(Status.SESSION_EXPIRED);
        assertThat(numberOf("k", deliver(SESSION, "k", 4, 3).resultBytes())).isEqualTo(2);
    }

    /** Forwards mutations, and runs an action before the client receives the first answer of that number. */
    private record Interrupting(Session below, AtomicInteger mutations, int number, boolean applied, Runnable meanwhile)
            implements ForwardingSession {
        @Override
        public boolean needsRequestIds() {
            return true;
        }

        @Override
        public void call(Request request) {
            final boolean now = request.operation().isMutation() && mutations.incrementAndGet() == number;
            if (!now || applied) {
                below.call(request);
            }
            if (now) {
                meanwhile.run();
                request.noResult();
                request.answer(Status.NO_REPLY, 0, 0, 0);
            }
        }
    }

    private RowanClient interrupted(int number, boolean applied) {
        return new RowanClient(
                new Interrupting(cluster.session(), new AtomicInteger(), number, applied, this::lease),
                SystemClock.INSTANCE,
                new SplittableRandomSource(3),
                TimeUnit.MINUTES.toNanos(10));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldTellAClientThatPausedBetweenAttemptsThatTheOutcomeIsUnknown(boolean applied) {
        open(null);
        try (RowanClient client = interrupted(2, applied)) {
            final int cache = Stores.cache(client);
            client.put(cache, bytes("k"), value("k", 1, 100));
            assertThatThrownBy(() -> client.put(cache, bytes("k"), value("k", 2, 100)))
                    .isInstanceOfSatisfying(
                            RowanException.class, e -> assertThat(e.status()).isEqualTo(Status.OUTCOME_UNKNOWN));

            assertThat(numberOf("k", client.get(cache, bytes("k")))).isEqualTo(applied ? 2 : 1);
            client.put(cache, bytes("k"), value("k", 3, 100));
            assertThat(numberOf("k", client.get(cache, bytes("k")))).isEqualTo(3);
        }
        assertThat(openAtPrimaries()).isZero();
    }

    @Test
    void shouldServeAClientThatWasIdleForLongAsIfNothingHadBeen() {
        open(null);
        try (RowanClient client = Stores.client(cluster)) {
            final int cache = Stores.cache(client);
            for (int pause = 0; pause < 3; pause++) {
                for (int i = 0; i < 10; i++) {
                    client.put(cache, bytes("k" + i), value("k" + i, pause, 100));
                }
                lease();
                assertThat(openAtPrimaries()).isZero();
                for (int i = 0; i < 10; i++) {
                    assertThat(numberOf("k" + i, client.get(cache, bytes("k" + i))))
                            .isEqualTo(pause);
                }
            }
        }
    }

    @Test
    void shouldGiveEverySessionAWholeLeaseAfterARestart() {
        open(dir);
        Stores.cache(Stores.client(cluster));
        openSession(SESSION);
        final Request first = deliver(SESSION, "k", 1, 1);
        tick();
        tick();
        tick();
        cluster.close();
        open(dir);
        tick();
        tick();
        final Request again = deliver(SESSION, "k", 1, 1);
        assertThat(again.version()).isEqualTo(first.version());
        assertThat(again.has(ResultBits.REPLAYED)).isTrue();

        lease();
        assertThat(openAtPrimaries()).isZero();
        cluster.close();
        open(dir);
        assertThat(openAtPrimaries()).isZero();
        assertThat(deliver(SESSION, "k", 2, 1).status()).isEqualTo(Status.SESSION_EXPIRED);
        assertThat(deliver(SESSION, "k", 2, 2).status()).isEqualTo(Status.SESSION_EXPIRED);
        openSession(SESSION + 1);
        assertThat(numberOf("k", deliver(SESSION + 1, "k", 3, 1).resultBytes())).isEqualTo(1);
    }

    @Test
    @Tag("chaos")
    @Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void shouldNeverEndASessionWithARequestUnderWay() throws InterruptedException {
        open(null);
        Stores.cache(Stores.client(cluster));
        openSession(SESSION);
        final CountDownLatch stands = new CountDownLatch(1);
        final CountDownLatch released = new CountDownLatch(1);
        final Request[] answer = new Request[1];
        final Thread slow = new Thread(() -> answer[0] = deliver(SESSION, "k", 1, 1));
        Chaos.install(point -> {
            if (point.equals("request.after-tlog") && Thread.currentThread() == slow) {
                stands.countDown();
                try {
                    released.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
        });
        slow.start();
        stands.await();
        try {
            for (int i = 0; i < 3 * SessionLeaseAgent.TICKS; i++) {
                tick();
            }
            assertThat(openAtPrimaries()).isEqualTo(1);
        } finally {
            released.countDown();
            slow.join();
        }
        assertThat(answer[0].status()).isEqualTo(Status.OK);
        tick();
        final Request again = deliver(SESSION, "k", 1, 1);
        assertThat(again.version()).isEqualTo(answer[0].version());
        assertThat(again.has(ResultBits.REPLAYED)).isTrue();
        lease();
        assertThat(openAtPrimaries()).isZero();
    }

    /** Leases so short that sessions end between any two requests, and just as the next one arrives. */
    @Test
    @Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void shouldApplyOnceWhateverEndsMeanwhile() throws InterruptedException {
        open(null, TimeUnit.MILLISECONDS.toNanos(1));
        final int cache = Stores.cache(Stores.client(cluster));
        final List<Thread> callers = new ArrayList<>();
        final ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();
        for (int caller = 0; caller < 3; caller++) {
            final int number = caller;
            final Thread thread = new Thread(() -> {
                try {
                    call(cache, number);
                } catch (RuntimeException | AssertionError e) {
                    failures.add(e);
                }
            });
            callers.add(thread);
            thread.start();
        }
        for (Thread caller : callers) {
            caller.join();
        }
        assertThat(failures).isEmpty();
        assertThat(sum(ServerStatistics::endedSessions)).isGreaterThan(100);
    }

    private void call(int cache, int caller) {
        final Random random = new Random(caller);
        final AtomicInteger calls = new AtomicInteger();
        final String key = "caller" + caller;
        try (RowanClient client = new RowanClient(
                new ReplyLosingSession(cluster.session(), call -> random.nextInt(4) == 0, calls),
                SystemClock.INSTANCE,
                new SplittableRandomSource(caller))) {
            long known = 0;
            long tried = 0;
            for (int i = 0; i < 200 || sum(ServerStatistics::endedSessions) <= 100; i++) {
                tried++;
                final byte[] value = value(key, tried, 50);
                final Request put = new Request()
                        .put(cache, bytes(key), 0, key.length(), value, 0, value.length)
                        .requestValue(true);
                client.execute(put);
                assertThat(put.status()).isIn(Status.OK, Status.OUTCOME_UNKNOWN);
                if (put.status() == Status.OK) {
                    // Had it been applied twice, the second time would have found the first.
                    final long old = tried == 1 || !put.has(ResultBits.EXISTED) ? 0 : numberOf(key, put.resultBytes());
                    assertThat(old).isBetween(known, tried - 1);
                    known = tried;
                }
                final Server server = cluster.servers().get(put.shard());
                final long until =
                        server.retentionAgents().sessionLeases().ticks() + random.nextInt(SessionLeaseAgent.TICKS + 3);
                while (server.retentionAgents().sessionLeases().ticks() < until) {
                    server.wakeUp();
                    Thread.yield();
                }
            }
            assertThat(numberOf(key, client.get(cache, bytes(key)))).isBetween(known, tried);
        }
    }
}
