package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rowankv.server.embedded.Stores.bytes;
import static org.rowankv.server.embedded.Stores.value;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.api.StoreFullException;
import org.rowankv.protocol.Request;
import org.rowankv.runtime.TestScale;

/** The account of space stays exact, whatever happens to entries; else a store would be full too early, or too late. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class SpaceAccountTest {
    @TempDir
    private Path dir;

    private EmbeddedSettings settings(int servers, int replicas) {
        return EmbeddedSettings.of(with -> {
            with.servers = servers;
            with.replicas = replicas;
            with.dir = dir;
            with.shards = 2 * servers;
            with.workers = 4;
            with.capacityBytes = 4 << 20;
            with.maxMessage = 1024;
        });
    }

    /** All mutations, in random order. */
    private static void operate(EmbeddedCluster cluster, RowanClient client, int cache, Random random, int count) {
        for (int i = 0; i < count; i++) {
            final String key = "k" + random.nextInt(200);
            final byte[] bytes = bytes(key);
            final byte[] value = value(key, i, random.nextInt(10) == 0 ? 4000 : random.nextInt(600));
            final Request request = new Request();
            switch (random.nextInt(8)) {
                case 0, 1, 2 -> request.put(cache, bytes, 0, bytes.length, value, 0, value.length);
                case 3 ->
                    request.put(cache, bytes, 0, bytes.length, value, 0, value.length)
                            .requestValue(true);
                case 4 -> request.delete(cache, bytes, 0, bytes.length);
                case 5 -> request.delete(cache, bytes, 0, bytes.length).requestValue(true);
                case 6 ->
                    request.touch(
                            cache,
                            bytes,
                            0,
                            bytes.length,
                            client.getVersioned(cache, bytes).version(),
                            1L << 40);
                default -> {
                    if (random.nextInt(60) == 0) {
                        client.clear(cache);
                    }
                    request.put(cache, bytes, 0, bytes.length, value, 0, value.length)
                            .ttl(0, 0);
                }
            }
            client.execute(request);
            final int servers = cluster.settings().shape().servers();
            if (servers > 1 && random.nextInt(20) == 0) {
                final int from = random.nextInt(servers);
                cluster.fenceLink(from, (from + 1 + random.nextInt(servers - 1)) % servers);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"1,1,1", "3,1,1", "3,2,1", "3,3,1", "1,1,4", "3,3,4"})
    void shouldBeExactAfterManyOperationsFencesAndReopenings(int servers, int replicas, int scanThreads) {
        final Random random = new Random(servers * 10L + replicas);
        Map<String, String> closedWith = Map.of();
        for (int round = 0; round < TestScale.of(2, 4); round++) {
            final EmbeddedCluster cluster = EmbeddedCluster.open(
                    settings(servers, replicas), EmbeddedContext.machine().withScanThreads(scanThreads));
            assertThat(objects(cluster)).isEqualTo(closedWith);
            Stores.requireExactSpace(cluster);
            try (RowanClient client = Stores.client(cluster, round)) {
                operate(cluster, client, Stores.cache(client), random, 6000);
            }
            Stores.requireAgreement(cluster);
            Stores.requireExactSpace(cluster);
            closedWith = objects(cluster);
            cluster.close();
        }
    }

    private static Map<String, String> objects(EmbeddedCluster cluster) {
        final Map<String, String> objects = new HashMap<>();
        for (int shard = 0; shard < cluster.configuration().shardCount(); shard++) {
            final int primary = cluster.configuration().shard(shard).primary();
            objects.putAll(Stores.objects(cluster.servers().get(primary), shard));
        }
        return objects;
    }

    @Test
    void shouldBeExactWhenFull() {
        final EmbeddedCluster cluster = EmbeddedCluster.open(settings(3, 3));
        final Random random = new Random(5);
        int refused = 0;
        try (RowanClient client = Stores.client(cluster)) {
            final int cache = Stores.cache(client);
            for (int i = 0; i < TestScale.of(6_000, 20_000); i++) {
                final String key = "k" + random.nextInt(4000);
                try {
                    client.put(cache, bytes(key), value(key, i, random.nextInt(2500)));
                } catch (StoreFullException e) {
                    refused++;
                    for (int d = 0; d < 20; d++) {
                        client.remove(cache, bytes("k" + random.nextInt(4000)));
                    }
                }
            }
        }
        assertThat(refused).isPositive();
        Stores.requireHealth(cluster);
        Stores.requireExactSpace(cluster);
        cluster.close();
    }
}
