package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.api.StoreFullException;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.engine.Server;
import org.rowankv.server.shard.ShardReplica;
import org.rowankv.topology.KeyHash;
import org.rowankv.topology.ShardMap;

/** Stores that are nearly full, of odd shapes, or with a slow digest: they continue, and lose nothing. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class StoreUnderPressureTest {
    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    static RowanClient client(EmbeddedCluster cluster) {
        return new RowanClient(cluster.session(), SystemClock.INSTANCE, new SplittableRandomSource(7));
    }

    private static void awaitCommitted(EmbeddedCluster cluster, int primary, long version) {
        final ShardReplica replica = servers(cluster).get(primary).replicas().get(0);
        await().until(() -> replica.commitVersion() >= version);
    }

    private static List<Server> servers(EmbeddedCluster cluster) {
        return cluster.servers();
    }

    /** A server that holds no replica of some shard. */
    @Test
    void shouldDigestWithFewerReplicasThanServers() {
        final EmbeddedSettings settings = EmbeddedSettings.of(with -> {
            with.servers = 4;
            with.replicas = 2;
            with.shards = 4;
            with.workers = 2;
            with.capacityBytes = 8 << 20;
        });
        assertTimeoutPreemptively(Duration.ofSeconds(100), () -> {
            final EmbeddedCluster cluster = EmbeddedCluster.open(settings);
            final RowanClient client = client(cluster);
            final int cache = client.catalogue().create("c", new byte[0]).id();
            for (int i = 0; i < 40_000; i++) {
                client.put(cache, bytes("k" + i % 1000), new byte[500]);
                if (i % 1000 == 0) {
                    assertThat(cluster.errors().count())
                            .as("%d: %s", i, cluster.errors())
                            .isZero();
                }
            }
            client.close();
            cluster.close();
        });
    }

    /** One idle session's completion holds back the horizon; the full store never reports FULL. */
    @Test
    void shouldNotHangWhenFullWithAnIdleLane() throws Exception {
        final EmbeddedSettings settings = EmbeddedSettings.of(with -> {
            with.workers = 2;
            with.shards = 1;
            with.capacityBytes = 2 << 20;
        });
        try (EmbeddedCluster cluster = EmbeddedCluster.open(settings);
                RowanClient client = client(cluster)) {
            final int cache = client.catalogue().create("c", new byte[0]).id();
            final Thread other = new Thread(() -> client.put(cache, bytes("shared"), bytes("1")));
            other.start();
            other.join();
            client.put(cache, bytes("shared"), bytes("2")); // another session: the first one's completion stays needed
            assertTimeoutPreemptively(Duration.ofSeconds(60), () -> {
                int i = 0;
                for (; i < 200_000; i++) {
                    client.put(cache, bytes("t" + i), bytes("x"));
                    client.remove(cache, bytes("t" + i));
                }
            });
        }
    }

    /** The same without an idle session. */
    @Test
    void shouldNotHangWhenFull() throws Exception {
        final EmbeddedSettings settings = EmbeddedSettings.of(with -> {
            with.workers = 2;
            with.shards = 1;
            with.capacityBytes = 2 << 20;
        });
        try (EmbeddedCluster cluster = EmbeddedCluster.open(settings);
                RowanClient client = client(cluster)) {
            final int cache = client.catalogue().create("c", new byte[0]).id();
            client.put(cache, bytes("shared"), bytes("2"));
            assertTimeoutPreemptively(Duration.ofSeconds(60), () -> {
                for (int i = 0; i < 200_000; i++) {
                    client.put(cache, bytes("t" + i), bytes("x"));
                    client.remove(cache, bytes("t" + i));
                }
            });
        }
    }

    /** A large PUT, its DELETE and their CommitVer in one cycle of the digest: the backup keeps the PUT. */
    @Test
    void shouldNotResurrectALargeObjectOnABackup() throws Exception {
        final EmbeddedSettings settings = EmbeddedSettings.of(with -> {
            with.servers = 2;
            with.replicas = 2;
            with.shards = 2;
            with.workers = 2;
            with.capacityBytes = 32 << 20;
        });
        try (EmbeddedCluster cluster = EmbeddedCluster.open(settings);
                RowanClient client = client(cluster)) {
            final int cache = client.catalogue().create("c", new byte[0]).id();
            final KeyHash hash = new KeyHash(cluster.configuration().hashSeed());
            byte[] small = null;
            byte[] large = null;
            for (int i = 0; small == null || large == null; i++) {
                final byte[] key = bytes("k" + i);
                if (ShardMap.shardOf(hash.hash(cache, key, 0, key.length), 2) == 0) {
                    if (small == null) {
                        small = key;
                    } else {
                        large = key;
                    }
                }
            }
            final int primary = cluster.configuration().shard(0).primary();
            final ShardReplica backup =
                    servers(cluster).get(1 - primary).replicas().get(0);
            client.put(cache, small, bytes("0"));
            cluster.awaitDigested();
            backup.index().lock(77); // the digest waits, as it does whenever it is descheduled or slow
            client.put(cache, small, bytes("1"));
            client.put(cache, large, new byte[100_000]);
            client.remove(cache, large);
            // A miss reports the newest version of its shard.
            awaitCommitted(cluster, primary, client.getVersioned(cache, large).version());
            backup.index().unlock();
            cluster.awaitDigested();
            cluster.awaitDigested();
            final long position = backup.positionOf(hash.hash(cache, large, 0, large.length));
            assertThat(client.get(cache, large)).isNull();
            assertThat(backup.index().find(position, cache, large, 0, large.length))
                    .isZero();
        }
    }

    /** Old values of completions that no counter covers. */
    @Test
    void shouldNotHangOnOldValuesOfCompletions() throws Exception {
        final EmbeddedSettings settings = EmbeddedSettings.of(with -> {
            with.workers = 2;
            with.shards = 4;
            with.capacityBytes = 4 << 20;
        });
        try (EmbeddedCluster cluster = EmbeddedCluster.open(settings);
                RowanClient client = client(cluster)) {
            final int cache = client.catalogue().create("c", new byte[0]).id();
            final AtomicInteger full = new AtomicInteger();
            assertTimeoutPreemptively(Duration.ofSeconds(60), () -> {
                for (int round = 0; round < 20; round++) {
                    for (int i = 0; i < 128; i++) {
                        final int key = i % 16;
                        final Thread thread = new Thread(() -> {
                            try {
                                client.getAndPut(cache, bytes("k" + key), new byte[20_000]);
                            } catch (StoreFullException e) {
                                full.incrementAndGet();
                            }
                        });
                        thread.start();
                        thread.join(60_000);
                        assertThat(thread.isAlive())
                                .as("round %d put %d: %s", round, i, cluster.statistics())
                                .isFalse();
                    }
                }
            });
        }
    }
}
