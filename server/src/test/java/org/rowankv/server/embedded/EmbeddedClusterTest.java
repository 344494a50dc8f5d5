package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.WriteResult;
import org.rowankv.driver.api.StoreFullException;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.SystemClock;
import org.rowankv.runtime.TestScale;
import org.rowankv.server.engine.Server;

@Tag("jvm")
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class EmbeddedClusterTest {
    @TempDir
    private Path dir;

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static RowanClient client(EmbeddedCluster cluster) {
        return new RowanClient(cluster.session(), SystemClock.INSTANCE, new SplittableRandomSource(7));
    }

    @ParameterizedTest
    @CsvSource({"1,1", "3,1", "3,3"})
    void shouldKeepWhatWasWritten(int servers, int replicas) {
        final EmbeddedSettings settings = EmbeddedSettings.of(with -> {
            with.servers = servers;
            with.replicas = replicas;
            with.capacityBytes = 64 << 20;
        });
        try (EmbeddedCluster cluster = EmbeddedCluster.open(settings);
                RowanClient client = client(cluster)) {
            final int cache = client.catalogue().create("c", new byte[0]).id();
            for (int i = 0; i < 10_000; i++) {
                assertThat(client.put(cache, bytes("k" + i), bytes("v" + i)).applied())
                        .isTrue();
            }
            for (int i = 0; i < 10_000; i++) {
                assertThat(client.get(cache, bytes("k" + i))).isEqualTo(bytes("v" + i));
            }
            final WriteResult replaced = client.getAndPut(cache, bytes("k1"), bytes("w"));
            assertThat(replaced.previousValue()).isEqualTo(bytes("v1"));
            assertThat(client.remove(cache, bytes("k2")).existed()).isTrue();
            assertThat(client.get(cache, bytes("k2"))).isNull();
            assertThat(client.putIfAbsent(cache, bytes("k1"), bytes("x")).applied())
                    .isFalse();
            client.clear(cache);
            assertThat(client.get(cache, bytes("k1"))).isNull();
            assertThat(client.scan(cache, false).hasNext()).isFalse();
            for (Server server : cluster.servers()) {
                for (int shard = 0; shard < settings.shape().shards(); shard++) {
                    if (server.replicas().has(shard)) {
                        // Calls within a process lose no reply, so no completion is kept.
                        assertThat(server.replicas().get(shard).sessions().openIds())
                                .isEmpty();
                    }
                }
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"1,1", "3,3"})
    void shouldFindEverythingAfterReopening(int servers, int replicas) {
        final EmbeddedSettings settings = EmbeddedSettings.of(with -> {
            with.servers = servers;
            with.replicas = replicas;
            with.dir = dir;
            with.capacityBytes = 64 << 20;
        });
        final Map<String, String> model = new HashMap<>();
        final Random random = new Random(1);
        for (int round = 0; round < 4; round++) {
            try (EmbeddedCluster cluster = EmbeddedCluster.open(settings);
                    RowanClient client = client(cluster)) {
                final int cache = client.catalogue().create("c", new byte[0]).id();
                for (int i = 0; i < 3000; i++) {
                    final String key = "k" + i;
                    final byte[] found = client.get(cache, bytes(key));
                    assertThat(found == null ? null : new String(found, StandardCharsets.UTF_8))
                            .as("round %d %s", round, key)
                            .isEqualTo(model.get(key));
                }
                for (int i = 0; i < 5000; i++) {
                    final String key = "k" + random.nextInt(3000);
                    if (random.nextInt(3) == 0) {
                        client.remove(cache, bytes(key));
                        model.remove(key);
                    } else {
                        final String value = "r" + round + "-" + i + "x".repeat(random.nextInt(200));
                        client.put(cache, bytes(key), bytes(value));
                        model.put(key, value);
                    }
                }
                assertThat(cluster.errors().count()).isZero();
            }
        }
    }

    @Test
    void shouldOverwriteManyTimesItsCapacity() {
        final EmbeddedSettings settings = EmbeddedSettings.of(with -> {
            with.servers = 3;
            with.replicas = 3;
            with.capacityBytes = 16 << 20;
            with.workers = 4;
        });
        try (EmbeddedCluster cluster = EmbeddedCluster.open(settings);
                RowanClient client = client(cluster)) {
            final int cache = client.catalogue().create("c", new byte[0]).id();
            final byte[] value = new byte[1000];
            final int keys = (int) (0.6 * (16 << 20) / 1100);
            long written = 0;
            final Random random = new Random(3);
            while (written < TestScale.of(8, 20) * (16L << 20)) {
                final int k = random.nextInt(keys);
                value[0] = (byte) k;
                client.put(cache, bytes("key" + k), value);
                written += 1100;
            }
            assertThat(cluster.errors().count()).isZero();
            for (int k = 0; k < keys; k++) {
                final byte[] found = client.get(cache, bytes("key" + k));
                if (found != null) {
                    assertThat(found[0]).isEqualTo((byte) k);
                }
            }
        }
    }

    @Test
    void shouldRefuseWritesWhenFullAndServeReads() {
        final EmbeddedSettings settings = EmbeddedSettings.of(with -> {
            with.capacityBytes = 8 << 20;
            with.workers = 4;
        });
        try (EmbeddedCluster cluster = EmbeddedCluster.open(settings);
                RowanClient client = client(cluster)) {
            final int cache = client.catalogue().create("c", new byte[0]).id();
            final byte[] value = new byte[1000];
            int stored = 0;
            boolean full = false;
            while (!full) {
                try {
                    client.put(cache, bytes("k" + stored), value);
                    stored++;
                } catch (StoreFullException e) {
                    full = true;
                }
            }
            assertThat(stored).isGreaterThan(2000);
            for (int i = 0; i < stored; i++) {
                assertThat(client.get(cache, bytes("k" + i))).isEqualTo(value);
            }
            for (int i = 0; i < stored; i++) {
                assertThat(client.remove(cache, bytes("k" + i)).existed()).isTrue();
            }
            for (int i = 0; i < stored * 9 / 10; i++) {
                try {
                    client.put(cache, bytes("n" + i), value);
                } catch (StoreFullException e) {
                    throw new AssertionError(i + " of " + stored + " " + cluster.statistics(), e);
                }
            }
        }
    }

    @Test
    void shouldCarryEntriesLargerThanAMessage() {
        final EmbeddedSettings settings = EmbeddedSettings.of(with -> {
            with.servers = 3;
            with.replicas = 3;
            with.dir = dir;
            with.capacityBytes = 64 << 20;
            with.segmentBytes = 1 << 20;
        });
        final byte[] value = new byte[500_000];
        new Random(5).nextBytes(value);
        try (EmbeddedCluster cluster = EmbeddedCluster.open(settings);
                RowanClient client = client(cluster)) {
            final int cache = client.catalogue().create("c", new byte[0]).id();
            for (int i = 0; i < 200; i++) {
                client.put(cache, bytes("k" + i % 20), value);
            }
        }
        try (EmbeddedCluster cluster = EmbeddedCluster.open(settings);
                RowanClient client = client(cluster)) {
            final int cache = client.catalogue().create("c", new byte[0]).id();
            for (int i = 0; i < 20; i++) {
                assertThat(client.get(cache, bytes("k" + i))).isEqualTo(value);
            }
            assertThat(cluster.errors().count()).isZero();
        }
    }
}
