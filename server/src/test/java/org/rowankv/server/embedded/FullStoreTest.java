package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rowankv.server.embedded.Stores.bytes;
import static org.rowankv.server.embedded.Stores.numberOf;
import static org.rowankv.server.embedded.Stores.value;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.api.StoreFullException;
import org.rowankv.server.engine.ServerStatistics;
import org.rowankv.topology.KeyHash;
import org.rowankv.topology.ShardMap;

/** Full: writes are refused before they receive a version, reads and removals continue, and removals free space. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class FullStoreTest {
    private static EmbeddedSettings settings(int servers, int replicas, int shards) {
        return EmbeddedSettings.of(with -> {
            with.servers = servers;
            with.replicas = replicas;
            with.shards = shards;
            with.workers = 4;
            with.capacityBytes = 4 << 20;
        });
    }

    private static boolean put(RowanClient client, int cache, String key, int length) {
        try {
            client.put(cache, bytes(key), value(key, 1, length));
            return true;
        } catch (StoreFullException e) {
            return false;
        }
    }

    @ParameterizedTest
    @CsvSource({"1,1", "3,1", "3,3"})
    void shouldRefuseWritesAndServeTheRest(int servers, int replicas) {
        try (EmbeddedCluster cluster = EmbeddedCluster.open(settings(servers, replicas, servers));
                RowanClient client = Stores.client(cluster)) {
            final int cache = Stores.cache(client);
            final List<String> stored = new ArrayList<>();
            int refused = 0;
            for (int i = 0; refused < 30; i++) {
                if (put(client, cache, "k" + i, 1000)) {
                    stored.add("k" + i);
                } else {
                    refused++;
                    // A miss reports the newest version of its shard.
                    final long version =
                            client.getVersioned(cache, bytes("k" + i)).version();
                    assertThat(put(client, cache, "k" + i, 1000)).isFalse();
                    assertThat(client.getVersioned(cache, bytes("k" + i)).version())
                            .isEqualTo(version);
                }
            }
            assertThat(stored.size())
                    .isGreaterThan((int) (0.9 * cluster.statistics().get(0).spaceLimit() / 1100));
            for (String key : stored) {
                assertThat(numberOf(key, client.get(cache, bytes(key)))).isEqualTo(1);
            }
            // The same length again needs only the replaced space.
            for (String key : stored) {
                client.put(cache, bytes(key), value(key, 2, 1000));
            }
            for (int i = 0; i < stored.size() / 2; i++) {
                assertThat(client.remove(cache, bytes(stored.get(i))).existed()).isTrue();
            }
            for (int i = 0; i < stored.size() / 3; i++) {
                assertThat(put(client, cache, "n" + i, 1000)).as("after %d", i).isTrue();
            }
            for (int i = stored.size() / 2; i < stored.size(); i++) {
                assertThat(numberOf(stored.get(i), client.get(cache, bytes(stored.get(i)))))
                        .isEqualTo(2);
            }
            Stores.requireHealth(cluster);
        }
    }

    @Test
    void shouldRefuseWritesForWhichOneBackupHasNoSpace() {
        // Server 0 is primary of shard 0 and backup of shard 2; server 1 backs shard 0, server 2 shard 1.
        try (EmbeddedCluster cluster = EmbeddedCluster.open(settings(3, 2, 3));
                RowanClient client = Stores.client(cluster)) {
            assertThat(cluster.configuration().shard(2).backups()).containsExactly(0);
            final int cache = Stores.cache(client);
            int next = 0;
            boolean full = false;
            while (!full) {
                next = keyOf(cluster, cache, next, 0);
                full = !put(client, cache, "k" + next++, 1000);
                next = keyOf(cluster, cache, next, 2);
                full |= !put(client, cache, "k" + next++, 1000);
            }
            final int ofTwo = keyOf(cluster, cache, next, 2);
            assertThat(put(client, cache, "k" + ofTwo, 30_000)).isFalse();
            final List<ServerStatistics> statistics = cluster.statistics();
            assertThat(statistics.get(0).spaceAvailable()).isLessThan(100_000);
            assertThat(statistics.get(2).spaceAvailable())
                    .isGreaterThan(statistics.get(2).spaceLimit() / 3);
            for (int i = 0; i < 500; i++) {
                final int ofOne = keyOf(cluster, cache, ofTwo + 1 + 50 * i, 1);
                assertThat(put(client, cache, "k" + ofOne, 1000)).isTrue();
            }
            Stores.requireHealth(cluster);
        }
    }

    private static int keyOf(EmbeddedCluster cluster, int cache, int from, int shard) {
        final KeyHash keyHash = new KeyHash(cluster.configuration().hashSeed());
        int key = from;
        while (ShardMap.shardOf(keyHash.hash(cache, bytes("k" + key), 0, ("k" + key).length()), 3) != shard) {
            key++;
        }
        return key;
    }

    @Test
    void shouldNotLeaveSpaceWithWorkersThatAreIdle() throws Exception {
        final EmbeddedSettings settings = EmbeddedSettings.of(with -> {
            with.servers = 3;
            with.replicas = 3;
            with.shards = 3;
            with.workers = 4;
            with.segmentBytes = 64 << 10;
            with.capacityBytes = EmbeddedSettings.minimumCapacity(3, 4, 64 << 10);
            with.maxMessage = 1024;
        });
        try (EmbeddedCluster cluster = EmbeddedCluster.open(settings);
                RowanClient client = Stores.client(cluster)) {
            final int cache = Stores.cache(client);
            final List<Thread> callers = new ArrayList<>();
            for (int t = 0; t < 16; t++) {
                final int caller = t;
                callers.add(new Thread(() -> {
                    for (int i = 0; i < 20; i++) {
                        client.put(cache, bytes("t" + caller + "-" + i), value("t", i, 100));
                    }
                }));
                callers.get(t).start();
            }
            for (Thread caller : callers) {
                caller.join();
            }
            int stored = 0;
            while (put(client, cache, "k" + stored, 900)) {
                stored++;
            }
            final long limit = cluster.statistics().get(0).spaceLimit();
            assertThat(stored).isGreaterThan((int) (0.85 * (limit - 16 * 20 * 256) / 1024));
            Stores.requireHealth(cluster);
        }
    }

    @Test
    void shouldGoOnWhenAnswersThatMayBeAskedForAgainFillIt() throws Exception {
        try (EmbeddedCluster cluster = EmbeddedCluster.open(settings(3, 3, 48))) {
            final AtomicInteger returned = new AtomicInteger();
            try (RowanClient client = Stores.client(cluster)) {
                final int cache = Stores.cache(client);
                final ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();
                final List<Thread> callers = new ArrayList<>();
                for (int t = 0; t < 8; t++) {
                    final String prefix = "t" + t + "-";
                    final Thread caller = new Thread(() -> {
                        for (int i = 0; i < 100; i++) {
                            final String key = prefix + i;
                            if (put(client, cache, key, 20_000)) {
                                final byte[] old =
                                        client.getAndRemove(cache, bytes(key)).previousValue();
                                assertThat(numberOf(key, old)).isEqualTo(1);
                                returned.incrementAndGet();
                            }
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
                assertThat(client.scan(cache, false).hasNext()).isFalse();
            }
            assertThat(returned.get()).isGreaterThan(100);
            // The client is gone and sends no more requests.
            try (RowanClient client = Stores.client(cluster, 8)) {
                final int cache = Stores.cache(client);
                for (int i = 0; i < 60; i++) {
                    assertThat(put(client, cache, "n" + i, 20_000))
                            .as("after %d", i)
                            .isTrue();
                }
            }
            Stores.requireHealth(cluster);
            Stores.requireExactSpace(cluster);
        }
    }
}
