package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rowankv.server.embedded.Stores.bytes;

import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.driver.RowanClient;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.server.engine.ServerStatistics;

/**
 * The log drops the tombstone of a destroyed cache when nothing of the cache is left; the store still refuses the id.
 */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class DestroyedCacheTest {
    private static final int CAPACITY = 2 << 20;

    @TempDir
    private Path dir;

    @Test
    void shouldRefuseADestroyedCacheWhenNeitherLogNorCheckpointSaysSo() {
        final EmbeddedSettings settings = EmbeddedSettings.of(with -> {
            with.servers = 1;
            with.replicas = 1;
            with.shards = 1;
            with.workers = 1;
            with.capacityBytes = CAPACITY;
            with.checkpointIntervalMs = 0;
            with.dir = dir;
        });
        final int destroyed;
        final int live;
        try (EmbeddedCluster cluster = EmbeddedCluster.open(settings);
                RowanClient client = Stores.client(cluster)) {
            destroyed = client.catalogue().create("first", new byte[0]).id();
            client.put(destroyed, bytes("k"), bytes("v"));
            assertThat(client.catalogue().destroy("first")).isTrue();
            live = client.catalogue().create("second", new byte[0]).id();
            final byte[] value = new byte[1_000];
            for (int i = 0; droppedTombstones(cluster) < 1 || i * 1_000 < 4 * CAPACITY; i++) {
                client.put(live, bytes("other" + i % 50), value);
            }
            assertThat(put(client, destroyed)).isEqualTo(Status.UNKNOWN_CACHE);
        }
        try (EmbeddedCluster cluster = EmbeddedCluster.open(settings);
                RowanClient client = Stores.client(cluster, 1)) {
            assertThat(put(client, destroyed)).isEqualTo(Status.UNKNOWN_CACHE);
            final byte[] key = bytes("k");
            final Request read = new Request().get(destroyed, key, 0, key.length);
            client.execute(read);
            assertThat(read.status()).isEqualTo(Status.UNKNOWN_CACHE);
            assertThat(put(client, live)).isEqualTo(Status.OK);
            final int next = client.catalogue().create("first", new byte[0]).id();
            assertThat(next).isNotEqualTo(destroyed);
            assertThat(put(client, next)).isEqualTo(Status.OK);
        }
    }

    private static long droppedTombstones(EmbeddedCluster cluster) {
        return cluster.statistics().stream()
                .mapToLong(ServerStatistics::tombstonesDropped)
                .sum();
    }

    private static Status put(RowanClient client, int cache) {
        final byte[] key = bytes("k");
        final Request request = new Request().put(cache, key, 0, key.length, key, 0, key.length);
        client.execute(request);
        return request.status();
    }
}
