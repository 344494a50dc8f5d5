package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rowankv.server.embedded.Stores.bytes;
import static org.rowankv.server.embedded.Stores.value;

import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.api.StoreFullException;
import org.rowankv.runtime.TestScale;
import org.rowankv.server.engine.ServerStatistics;

/** Bytes copied by the cleaner, per byte written to the logs. */
final class CopiedBytesTest {
    private static final int HOT_KEYS = 50;
    private static final int VALUE_LENGTH = 130;
    private static final int ENTRY_LENGTH = 256;
    /**
     * One in so many puts is stored, so that the churn ends. Tombstones wait for the b-log's open segment, the longer the
     * slower the digest: on a busy machine half of the puts were refused.
     */
    private static final int STORED_OF = 4;

    private long operations;
    private long refusals;

    private static long copied(EmbeddedCluster cluster) {
        return cluster.statistics().stream()
                .mapToLong(ServerStatistics::relocatedBytes)
                .sum();
    }

    private static long written(EmbeddedCluster cluster) {
        return cluster.statistics().stream()
                .mapToLong(server -> server.tLogBytes() + server.bLogBytes())
                .sum();
    }

    /**
     * Tombstones take the little space left, and every segment holds dead bytes, few of them deleted. To reach the
     * tombstones the cleaner once copied the whole store repeatedly: five bytes and more per byte.
     */
    @ParameterizedTest
    @CsvSource({"1,0.97", "3,0.9"})
    void shouldNotCopyTheStoreToForgetDeletionsInIt(int replicas, double share) {
        final EmbeddedSettings settings = EmbeddedSettings.of(with -> {
            with.servers = replicas;
            with.replicas = replicas;
            with.shards = 16;
            with.workers = 8;
            with.capacityBytes = 24 << 20;
            with.segmentBytes = 256 << 10;
        });
        try (EmbeddedCluster cluster = EmbeddedCluster.open(settings)) {
            churn(cluster, share);
            Stores.requireHealth(cluster);
            Stores.requireExactSpace(cluster);
        }
    }

    private void putIfThereIsRoom(EmbeddedCluster cluster, RowanClient client, int cache, String key, int number) {
        operations++;
        if (!isStored(client, cache, key, number)) {
            cluster.awaitDigested(); // a caller is faster than a busy machine's agents
            refusals += isStored(client, cache, key, number) ? 0 : 1;
        }
    }

    private static boolean isStored(RowanClient client, int cache, String key, int number) {
        try {
            client.put(cache, bytes(key), value(key, number, VALUE_LENGTH));
            return true;
        } catch (StoreFullException e) {
            return false;
        }
    }

    private void churn(EmbeddedCluster cluster, double share) {
        final int replicas = cluster.settings().shape().replicas();
        try (RowanClient client = Stores.client(cluster)) {
            final int cache = Stores.cache(client);
            final int cold = (int) (share * cluster.statistics().get(0).spaceLimit() / ENTRY_LENGTH);
            for (int k = 0; k < cold; k++) {
                client.put(cache, bytes("cold" + k), value("cold" + k, 0, VALUE_LENGTH));
            }
            final Random random = new Random(replicas);
            final long writtenBefore = written(cluster);
            final long copiedBefore = copied(cluster);
            while (written(cluster) - writtenBefore
                    < TestScale.of(1, 2) * replicas * cluster.settings().capacityBytes()) {
                for (int i = 0; i < 1000; i++) {
                    final String hot = "hot" + random.nextInt(HOT_KEYS);
                    if (random.nextBoolean()) {
                        client.remove(cache, bytes(hot));
                    } else {
                        putIfThereIsRoom(cluster, client, cache, hot, i);
                    }
                    if (i % 100 == 0) {
                        putIfThereIsRoom(cluster, client, cache, "cold" + random.nextInt(cold), i);
                    }
                }
                assertThat(operations - refusals)
                        .as("stored, of %d", operations)
                        .isGreaterThan(operations / STORED_OF);
            }
            assertThat(copied(cluster) - copiedBefore)
                    .as("copied, of %d written", written(cluster) - writtenBefore)
                    .isLessThan(3 * (written(cluster) - writtenBefore));
            assertThat(cluster.statistics())
                    .allSatisfy(server -> assertThat(server.tombstonesDropped()).isPositive());
        }
    }
}
