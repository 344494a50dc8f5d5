package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.rowankv.server.embedded.Stores.bytes;
import static org.rowankv.server.embedded.Stores.numberOf;
import static org.rowankv.server.embedded.Stores.value;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rowankv.driver.RowanClient;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.Ttl;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.server.engine.ServerStatistics;
import org.rowankv.server.retention.ExpirySweepAgent;
import org.rowankv.server.shard.KeyLocks;
import org.rowankv.topology.KeyHash;
import org.rowankv.topology.ShardMap;

/** Expired objects without requests end on all replicas, permanently, and no others do. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class ExpirySweepTest {
    private static final long MINUTE_MS = 60_000;
    private static final long HOUR_MS = 60 * MINUTE_MS;
    /** Age after which the sweep ends an expired object. */
    private static final long SWEPT_AFTER_MS = ExpirySweepAgent.GRACE_MS + 1000;

    @TempDir
    private Path dir;

    private final WallClock clock = new WallClock();

    private static Consumer<EmbeddedSettings.Builder> settings(int servers, int replicas) {
        return with -> {
            with.servers = servers;
            with.replicas = replicas;
            with.shards = 2 * servers;
            with.workers = 4;
            with.capacityBytes = 4 << 20;
        };
    }

    private EmbeddedCluster open(EmbeddedSettings settings) {
        return EmbeddedCluster.open(settings, clock, new SplittableRandomSource(1));
    }

    private static boolean put(RowanClient client, int cache, String key, int length, long ttlMs) {
        final byte[] value = value(key, 1, length);
        final Request request = new Request()
                .put(cache, bytes(key), 0, key.length(), value, 0, value.length)
                .ttl(ttlMs, ttlMs);
        client.execute(request);
        assertThat(request.status()).isIn(Status.OK, Status.FULL);
        return request.status() == Status.OK;
    }

    private static void putAll(RowanClient client, int cache, String prefix, int count, long ttlMs) {
        for (int i = 0; i < count; i++) {
            assertThat(put(client, cache, prefix + i, 300, ttlMs)).isTrue();
        }
    }

    private static long swept(EmbeddedCluster cluster) {
        return cluster.statistics().stream()
                .mapToLong(ServerStatistics::sweptObjects)
                .sum();
    }

    private static long expired(EmbeddedCluster cluster) {
        return cluster.statistics().stream()
                .mapToLong(ServerStatistics::expiredObjects)
                .sum();
    }

    /** Waits until the indexes of all servers hold that many items, without removed ones. */
    private void awaitItems(EmbeddedCluster cluster, long items) {
        await().atMost(Duration.ofSeconds(30))
                .pollInterval(Duration.ofMillis(5))
                .untilAsserted(() -> {
                    clock.hurry();
                    assertThat(cluster.statistics().stream()
                                    .mapToLong(ServerStatistics::indexEntries)
                                    .sum())
                            .isEqualTo(items);
                });
    }

    @ParameterizedTest
    @CsvSource({"1,1", "3,1", "3,2", "3,3"})
    void shouldGiveSpaceBackWithoutAnyRead(int servers, int replicas) {
        try (EmbeddedCluster cluster = open(EmbeddedSettings.of(settings(servers, replicas)))) {
            try (RowanClient client = Stores.client(cluster)) {
                final int cache = Stores.cache(client);
                putAll(client, cache, "eternal", 100, Ttl.ETERNAL);
                putAll(client, cache, "minute", 2000, MINUTE_MS);
                putAll(client, cache, "hour", 100, HOUR_MS);
                awaitItems(cluster, 2200L * replicas);
                clock.jump(MINUTE_MS + SWEPT_AFTER_MS);
                awaitItems(cluster, 200L * replicas);
                assertThat(swept(cluster)).isEqualTo(2000);
                assertThat(expired(cluster)).isEqualTo(2000);
                for (int i = 0; i < 100; i++) {
                    assertThat(numberOf("eternal" + i, client.get(cache, bytes("eternal" + i))))
                            .isEqualTo(1);
                    assertThat(numberOf("hour" + i, client.get(cache, bytes("hour" + i))))
                            .isEqualTo(1);
                }
                clock.jump(HOUR_MS);
                awaitItems(cluster, 100L * replicas);
                assertThat(swept(cluster)).isEqualTo(2100);
            }
            Stores.requireHealth(cluster);
            Stores.requireExactSpace(cluster);
        }
    }

    @Test
    void shouldLeaveTheEndOfAnObjectToItsPrimary() {
        try (EmbeddedCluster cluster = open(EmbeddedSettings.of(settings(3, 3)));
                RowanClient client = Stores.client(cluster)) {
            final int cache = Stores.cache(client);
            putAll(client, cache, "k", 600, MINUTE_MS);
            final KeyHash keyHash = new KeyHash(cluster.configuration().hashSeed());
            final long[] expected = new long[3];
            for (int i = 0; i < 600; i++) {
                final String key = "k" + i;
                final int shard = ShardMap.shardOf(keyHash.hash(cache, bytes(key), 0, key.length()), 6);
                expected[cluster.configuration().shard(shard).primary()]++;
            }
            clock.jump(MINUTE_MS + SWEPT_AFTER_MS);
            awaitItems(cluster, 0);
            assertThat(cluster.statistics().stream()
                            .mapToLong(ServerStatistics::sweptObjects)
                            .toArray())
                    .isEqualTo(expected);
            Stores.requireHealth(cluster);
        }
    }

    @Test
    void shouldLeaveAnExpiredObjectForAWhileToWhoeverAsks() {
        try (EmbeddedCluster cluster = open(EmbeddedSettings.of(settings(1, 1)));
                RowanClient client = Stores.client(cluster)) {
            final int cache = Stores.cache(client);
            putAll(client, cache, "late", 50, MINUTE_MS);
            clock.jump(10_000);
            putAll(client, cache, "later", 50, MINUTE_MS);
            // The first are past their grace period, the others have just expired.
            clock.jump(MINUTE_MS + 1000);
            awaitItems(cluster, 50);
            final Request get = new Request().get(cache, bytes("later7"), 0, 6);
            client.execute(get);
            assertThat(get.status()).isEqualTo(Status.NOT_FOUND);
            assertThat(get.has(org.rowankv.protocol.ResultBits.EXPIRED)).isTrue();
            assertThat(swept(cluster)).isEqualTo(50);
            assertThat(expired(cluster)).isEqualTo(51);
        }
    }

    @ParameterizedTest
    @CsvSource({"1,1", "3,3"})
    void shouldNotBringBackWhatItEndedWhenTheClockGoesBack(int servers, int replicas) {
        final EmbeddedSettings settings =
                EmbeddedSettings.of(settings(servers, replicas).andThen(with -> with.dir = dir));
        try (EmbeddedCluster cluster = open(settings);
                RowanClient client = Stores.client(cluster)) {
            final int cache = Stores.cache(client);
            putAll(client, cache, "k", 200, MINUTE_MS);
            putAll(client, cache, "day", 200, 24 * HOUR_MS);
            clock.jump(HOUR_MS);
            awaitItems(cluster, 200L * replicas);
            clock.jump(-HOUR_MS);
            assertThat(client.get(cache, bytes("k1"))).isNull();
        }
        clock.jump(-HOUR_MS);
        try (EmbeddedCluster cluster = open(settings);
                RowanClient client = Stores.client(cluster)) {
            final int cache = Stores.cache(client);
            for (int i = 0; i < 200; i++) {
                assertThat(client.get(cache, bytes("k" + i))).isNull();
                assertThat(numberOf("day" + i, client.get(cache, bytes("day" + i))))
                        .isEqualTo(1);
            }
            Stores.requireHealth(cluster);
        }
    }

    @Test
    void shouldEndWhatItFindsExpiredWhenTheStoreIsOpened() {
        final EmbeddedSettings settings = EmbeddedSettings.of(settings(3, 3).andThen(with -> with.dir = dir));
        try (EmbeddedCluster cluster = open(settings);
                RowanClient client = Stores.client(cluster)) {
            putAll(client, Stores.cache(client), "k", 200, MINUTE_MS);
            putAll(client, Stores.cache(client), "day", 100, 24 * HOUR_MS);
        }
        clock.jump(HOUR_MS);
        try (EmbeddedCluster cluster = open(settings)) {
            awaitItems(cluster, 300);
            assertThat(swept(cluster)).isEqualTo(200);
            Stores.requireHealth(cluster);
            Stores.requireExactSpace(cluster);
        }
    }

    @Test
    void shouldSpareWhatWasTouchedOrReplaced() {
        try (EmbeddedCluster cluster = open(EmbeddedSettings.of(settings(3, 3)));
                RowanClient client = Stores.client(cluster)) {
            final int cache = Stores.cache(client);
            putAll(client, cache, "touched", 100, MINUTE_MS);
            putAll(client, cache, "replaced", 100, MINUTE_MS);
            putAll(client, cache, "left", 100, MINUTE_MS);
            clock.jump(MINUTE_MS / 2);
            for (int i = 0; i < 100; i++) {
                final String key = "touched" + i;
                final Request get =
                        new Request().get(cache, bytes(key), 0, key.length()).accessTtl(MINUTE_MS);
                client.execute(get);
                assertThat(get.status()).isEqualTo(Status.OK);
                assertThat(put(client, cache, "replaced" + i, 200, MINUTE_MS)).isTrue();
            }
            clock.jump(MINUTE_MS / 2 + SWEPT_AFTER_MS);
            awaitItems(cluster, 600);
            for (int i = 0; i < 100; i++) {
                assertThat(client.get(cache, bytes("touched" + i))).isNotNull();
                assertThat(client.get(cache, bytes("replaced" + i))).isNotNull();
            }
            clock.jump(MINUTE_MS);
            awaitItems(cluster, 0);
            assertThat(swept(cluster)).isEqualTo(300);
            Stores.requireHealth(cluster);
        }
    }

    @ParameterizedTest
    @CsvSource({"1,1,4", "3,1,4", "3,2,4", "3,3,4", "1,1,1", "3,3,1"})
    void shouldTakeNewObjectsWhereAllOfAFullStoreHasExpired(int servers, int replicas, int workers) {
        try (EmbeddedCluster cluster =
                open(EmbeddedSettings.of(settings(servers, replicas).andThen(with -> with.workers = workers)))) {
            try (RowanClient client = Stores.client(cluster)) {
                final int cache = Stores.cache(client);
                int next = 0;
                for (int round = 0; round < 4; round++) {
                    int stored = 0;
                    while (put(client, cache, "k" + next++, 1000, MINUTE_MS)) {
                        stored++;
                    }
                    assertThat(stored).as("round %d", round).isGreaterThan((int)
                            (0.7 * cluster.statistics().get(0).spaceLimit() / 1100));
                    // Expired a moment ago: lack of space shortens the grace period.
                    clock.jump(MINUTE_MS);
                }
                assertThat(swept(cluster)).isPositive().isEqualTo(expired(cluster));
            }
            Stores.requireHealth(cluster);
            Stores.requireExactSpace(cluster);
        }
    }

    @Test
    void shouldFindSpaceForCallersThatHoldEveryWorker() throws Exception {
        try (EmbeddedCluster cluster = open(EmbeddedSettings.of(settings(3, 3).andThen(with -> with.workers = 2)));
                RowanClient client = Stores.client(cluster)) {
            final int cache = Stores.cache(client);
            int stored = 0;
            while (put(client, cache, "k" + stored, 1000, MINUTE_MS)) {
                stored++;
            }
            clock.jump(MINUTE_MS);
            final AtomicInteger puts = new AtomicInteger();
            final ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();
            final List<Thread> callers = new ArrayList<>();
            for (int t = 0; t < 8; t++) {
                final String prefix = "t" + t + "-";
                final int count = stored / 16;
                final Thread caller = new Thread(() -> {
                    for (int i = 0; i < count; i++) {
                        assertThat(put(client, cache, prefix + i, 1000, MINUTE_MS))
                                .as(prefix + i)
                                .isTrue();
                        puts.incrementAndGet();
                    }
                });
                caller.setUncaughtExceptionHandler((thread, failure) -> failures.add(failure));
                caller.start();
                callers.add(caller);
            }
            for (Thread caller : callers) {
                caller.join();
            }
            assertThat(failures).isEmpty();
            assertThat(puts.get()).isEqualTo(8 * (stored / 16));
            Stores.requireHealth(cluster);
        }
    }

    @Test
    void shouldPassByWhatIsLockedAndComeBack() {
        try (EmbeddedCluster cluster = open(EmbeddedSettings.of(settings(1, 1)));
                RowanClient client = Stores.client(cluster)) {
            putAll(client, Stores.cache(client), "k", 600, MINUTE_MS);
            final KeyLocks locks = cluster.servers().get(0).replicas().get(1).keyLocks();
            final int owner = 1000;
            for (int stripe = 0; stripe < KeyLocks.STRIPES; stripe++) {
                assertThat(locks.tryLock(stripe, owner)).isTrue();
            }
            final int locked = Stores.objects(cluster.servers().get(0), 1).size();
            assertThat(locked).isBetween(1, 599);
            clock.jump(MINUTE_MS + SWEPT_AFTER_MS);
            awaitItems(cluster, locked);
            for (int stripe = 0; stripe < KeyLocks.STRIPES; stripe++) {
                locks.unlock(stripe, owner);
            }
            awaitItems(cluster, 0);
            assertThat(swept(cluster)).isEqualTo(600);
            Stores.requireHealth(cluster);
        }
    }

    @Test
    void shouldLeaveToAClearWhatTheClearHasEnded() {
        try (EmbeddedCluster cluster = open(EmbeddedSettings.of(settings(3, 3)));
                RowanClient client = Stores.client(cluster)) {
            final int cache = Stores.cache(client);
            for (int round = 0; round < 5; round++) {
                putAll(client, cache, "a", 300, MINUTE_MS);
                clock.jump(MINUTE_MS + SWEPT_AFTER_MS);
                client.clear(cache);
                putAll(client, cache, "a", 100, HOUR_MS);
                awaitItems(cluster, 300);
                for (int i = 0; i < 100; i++) {
                    assertThat(numberOf("a" + i, client.get(cache, bytes("a" + i))))
                            .isEqualTo(1);
                }
                client.clear(cache);
                awaitItems(cluster, 0);
            }
            Stores.requireHealth(cluster);
        }
    }

    @Test
    void shouldCloseInTheMiddleOfASweep() {
        final EmbeddedSettings settings = EmbeddedSettings.of(settings(3, 3).andThen(with -> with.dir = dir));
        for (int round = 0; round < 5; round++) {
            try (EmbeddedCluster cluster = open(settings)) {
                try (RowanClient client = Stores.client(cluster, round)) {
                    final int cache = Stores.cache(client);
                    putAll(client, cache, "k", 1000, MINUTE_MS);
                    clock.jump(MINUTE_MS + SWEPT_AFTER_MS);
                    await().atMost(Duration.ofSeconds(30))
                            .pollDelay(Duration.ZERO)
                            .pollInterval(Duration.ofMillis(1))
                            .until(() -> {
                                clock.hurry();
                                return swept(cluster) > 0;
                            });
                }
            }
        }
        try (EmbeddedCluster cluster = open(settings)) {
            awaitItems(cluster, 0);
            Stores.requireHealth(cluster);
            Stores.requireExactSpace(cluster);
        }
    }
}
