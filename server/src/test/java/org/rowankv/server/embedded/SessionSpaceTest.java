package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.rowankv.server.embedded.Stores.bytes;
import static org.rowankv.server.embedded.Stores.value;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.api.StoreFullException;
import org.rowankv.driver.net.NetSession;
import org.rowankv.driver.net.NetSettings;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.engine.Server;
import org.rowankv.server.engine.ServerSettings;
import org.rowankv.server.engine.ServerStatistics;
import org.rowankv.server.frontend.ClientPortSettings;
import org.rowankv.server.retention.SessionLeaseAgent;

/**
 * Sessions of vanished clients take a bounded part of a store: a full one can always be emptied, also by a new client.
 */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class SessionSpaceTest {
    private static final int SHARDS = 6;
    private static final long TICK_NS = TimeUnit.HOURS.toNanos(10);

    @TempDir
    private Path dir;

    private final LeapClock clock = new LeapClock();

    private EmbeddedCluster open(int servers, int replicas, @Nullable Path directory) {
        final Consumer<EmbeddedSettings.Builder> settings = with -> {
            with.servers = servers;
            with.replicas = replicas;
            with.shards = SHARDS;
            with.workers = 4;
            with.capacityBytes = 4 << 20;
        };
        final EmbeddedContext usual = EmbeddedContext.of(clock, new SplittableRandomSource(5));
        return EmbeddedCluster.open(
                EmbeddedSettings.of(settings.andThen(with -> with.dir = directory)),
                new EmbeddedContext(
                        usual.clocks(),
                        usual.random(),
                        usual.scheduling(),
                        usual.fabric(),
                        usual.memories(),
                        usual.areaMachine(),
                        with -> with.sessionLeaseNs = SessionLeaseAgent.TICKS * TICK_NS,
                        usual.scanThreads(),
                        false));
    }

    /** Advances time until unused sessions end. */
    private void lease(EmbeddedCluster cluster) {
        for (int i = 0; i <= SessionLeaseAgent.TICKS; i++) {
            final List<Long> before = cluster.servers().stream()
                    .map(server -> server.retentionAgents().sessionLeases().ticks())
                    .toList();
            clock.leap(TICK_NS);
            await().atMost(Duration.ofSeconds(60))
                    .until(() -> cluster.servers().stream().allMatch(server -> {
                        server.wakeUp();
                        return server.retentionAgents().sessionLeases().ticks() > before.get(server.serverId());
                    }));
        }
        await().atMost(Duration.ofSeconds(60))
                .until(() -> cluster.servers().stream()
                        .allMatch(server ->
                                server.retentionAgents().sessionLeases().isIdle()));
    }

    private static int fill(RowanClient client, int cache) {
        int stored = 0;
        while (true) {
            try {
                client.put(cache, bytes("k" + stored), value("k" + stored, 1, 1000));
                stored++;
            } catch (StoreFullException e) {
                return stored;
            }
        }
    }

    /** Opens sessions that no client closes. */
    private static void abandon(EmbeddedCluster cluster, int count, long seed) {
        final Random random = new Random(seed);
        for (int i = 0; i < count; i++) {
            assertThat(Stores.openSession(cluster, i % SHARDS, random.nextLong())
                            .status())
                    .as("opening %d", i)
                    .isEqualTo(Status.OK);
        }
    }

    private static void empty(EmbeddedCluster cluster, int stored) {
        try (RowanClient late = Stores.client(cluster, 99)) {
            final int cache = Stores.cache(late);
            for (int i = 0; i < stored; i++) {
                assertThat(late.remove(cache, bytes("k" + i)).existed()).isTrue();
            }
            late.clear(cache);
            late.put(cache, bytes("new"), value("new", 1, 1000));
        }
    }

    private static int openAtPrimaries(EmbeddedCluster cluster) {
        int open = 0;
        for (int shard = 0; shard < SHARDS; shard++) {
            open += primary(cluster, shard).replicas().get(shard).sessions().openIds().length;
        }
        return open;
    }

    private static Server primary(EmbeddedCluster cluster, int shard) {
        return cluster.servers().get(cluster.configuration().shard(shard).primary());
    }

    /** What openings of sessions may take of each server beyond its limit. */
    private static long reserveOf(EmbeddedCluster cluster) {
        final int length = cluster.settings().shape().segmentBytes();
        final int count = (int) (cluster.settings().capacityBytes() / length);
        return ServerSettings.of(count, 4, cluster.settings().shape().replicas() > 1, usual -> {})
                .sessionReserve(count, length, cluster.configuration().mostReplicas());
    }

    @ParameterizedTest
    @CsvSource({"1,1", "3,1", "3,3"})
    void shouldEmptyAFullStoreAfterManyClientsDied(int servers, int replicas) {
        try (EmbeddedCluster cluster = open(servers, replicas, null)) {
            final RowanClient first = Stores.client(cluster);
            final int stored = fill(first, Stores.cache(first));
            abandon(cluster, 40_000, servers); // far more than the limit
            cluster.awaitDigested();
            for (ServerStatistics each : cluster.statistics()) {
                assertThat(each.openSessions() * 64L).isLessThanOrEqualTo(reserveOf(cluster));
            }
            empty(cluster, stored);
            Stores.requireHealth(cluster);
        }
    }

    @Test
    void shouldEmptyAFullStoreThatWasStartedAgain() {
        int stored;
        try (EmbeddedCluster cluster = open(3, 3, dir)) {
            final RowanClient first = Stores.client(cluster);
            stored = fill(first, Stores.cache(first));
            abandon(cluster, 20_000, 1);
        }
        try (EmbeddedCluster cluster = open(3, 3, dir)) {
            abandon(cluster, 20_000, 2);
            empty(cluster, stored);
            Stores.requireHealth(cluster);
        }
    }

    /**
     * A connection that opens sessions without end receives its share of them, and loses its own older ones to new
     * ones.
     */
    @Test
    void shouldLeaveTheSessionsOfOthersToThemWhateverAConnectionOpens() {
        try (EmbeddedCluster cluster = open(1, 1, null);
                EmbeddedPorts ports = EmbeddedPorts.open(cluster, ClientPortSettings.at("127.0.0.1", 0));
                RowanClient client = RowanClient.connect(ports.addresses(), NetSettings.DEFAULT);
                NetSession hostile = NetSession.connect(
                        ports.addresses(), NetSettings.DEFAULT.withConnections(1, 64), SystemClock.INSTANCE)) {
            final int cache = Stores.cache(client);
            final Request put = new Request();
            client.execute(put.put(cache, bytes("k"), 0, 1, bytes("v"), 0, 1));
            final long session = put.sessionId();
            final Random random = new Random(1);
            final Request opening = new Request();
            for (int i = 0; i < 3_000; i++) {
                final long id = random.nextLong();
                hostile.call(opening.openSession(put.shard(), id, opening.version()));
                if (opening.status() == Status.SESSION_EXPIRED) {
                    hostile.call(opening.openSession(put.shard(), id, opening.version()));
                }
                assertThat(opening.status()).isEqualTo(Status.OK);
            }
            assertThat(cluster.statistics().get(0).endedSessions()).isPositive();

            client.execute(put.put(cache, bytes("k"), 0, 1, bytes("w"), 0, 1));
            assertThat(put.status()).isEqualTo(Status.OK);
            assertThat(put.sessionId()).isEqualTo(session);
        }
    }

    /** A store filled by sessions, of an earlier start or other settings, recovers when they end. */
    @ParameterizedTest
    @CsvSource({"1,1", "3,3"})
    void shouldHealWhenTheLeasesOfTooManySessionsEnd(int servers, int replicas) {
        try (EmbeddedCluster cluster = open(servers, replicas, null)) {
            final RowanClient first = Stores.client(cluster);
            final int cache = Stores.cache(first);
            final int stored = fill(first, cache);
            for (int shard = 0; shard < SHARDS; shard++) {
                primary(cluster, shard).replicas().get(shard).sessions().beginPrimary(Integer.MAX_VALUE);
            }
            final Random random = new Random(5);
            Status status = Status.OK;
            for (int i = 0; status == Status.OK; i++) {
                status = Stores.openSession(cluster, i % SHARDS, random.nextLong())
                        .status();
            }
            assertThat(status).isEqualTo(Status.FULL);
            lease(cluster); // once: an end without space waits for it, not for the next tick
            assertThat(openAtPrimaries(cluster)).isZero();
            empty(cluster, stored);
            Stores.requireHealth(cluster);
        }
    }
}
