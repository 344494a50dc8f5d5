package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rowankv.server.embedded.Stores.bytes;
import static org.rowankv.server.embedded.Stores.numberOf;
import static org.rowankv.server.embedded.Stores.value;

import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rowankv.driver.RowanClient;
import org.rowankv.runtime.TestScale;
import org.rowankv.server.engine.ServerStatistics;

/** Stores that are overwritten many times: the cleaner frees dead entries, and nothing else. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class CleaningTest {
    private static final int CAPACITY = 4 << 20;
    /** How many times the capacity is written. */
    private static final int TIMES = TestScale.of(10, 20);

    @TempDir
    private Path dir;

    private static Consumer<EmbeddedSettings.Builder> settings(int servers, int replicas) {
        return with -> {
            with.servers = servers;
            with.replicas = replicas;
            with.shards = 2 * servers;
            with.workers = 4;
            with.capacityBytes = CAPACITY;
            with.maxMessage = 4096;
        };
    }

    /** Number of objects of that entry length that fill that share of one server's space. */
    private static int objects(EmbeddedCluster cluster, double share, int entryLength) {
        return (int) (share * cluster.statistics().get(0).spaceLimit() / entryLength);
    }

    private static long tombstonesDropped(EmbeddedCluster cluster) {
        return cluster.statistics().stream()
                .mapToLong(ServerStatistics::tombstonesDropped)
                .min()
                .orElseThrow();
    }

    @Test
    void shouldKeepEveryValueThroughManyTimesItsCapacity() {
        try (EmbeddedCluster cluster = EmbeddedCluster.open(EmbeddedSettings.of(settings(3, 3)));
                RowanClient client = Stores.client(cluster)) {
            final int cache = Stores.cache(client);
            final int keys = (int) (0.6 * CAPACITY / 1100);
            final long[] newest = new long[keys];
            final Random random = new Random(3);
            for (long i = 1; i * 1100 < TIMES * (long) CAPACITY; i++) {
                final int k = random.nextInt(keys);
                client.put(cache, bytes("k" + k), value("k" + k, i, 1000));
                newest[k] = i;
                requireValue(client, cache, random.nextInt(keys), newest);
            }
            for (int k = 0; k < keys; k++) {
                requireValue(client, cache, k, newest);
            }
            Stores.requireHealth(cluster);
        }
    }

    private static void requireValue(RowanClient client, int cache, int k, long[] newest) {
        final byte[] found = client.get(cache, bytes("k" + k));
        assertThat(found == null ? 0 : numberOf("k" + k, found)).isEqualTo(newest[k]);
    }

    @ParameterizedTest
    @CsvSource({"1,1,2500", "3,3,2500", "3,3,20000"})
    void shouldNeitherLoseNorBringBackAcrossReopenings(int servers, int replicas, int maxLength) {
        final EmbeddedSettings settings =
                EmbeddedSettings.of(settings(servers, replicas).andThen(with -> with.dir = dir));
        final PossibleValues values = new PossibleValues("k", (int) (0.5 * CAPACITY / maxLength), maxLength);
        final Random random = new Random(servers);
        for (int round = 0; round < TestScale.of(3, 5); round++) {
            final EmbeddedCluster cluster = EmbeddedCluster.open(settings);
            try (RowanClient client = Stores.client(cluster, round)) {
                final int cache = Stores.cache(client);
                values.requirePossible(client, cache);
                for (int i = 0; i < 5 * 2 * CAPACITY / maxLength; i++) {
                    values.operate(client, cache, random);
                }
            }
            Stores.requireHealth(cluster);
            Stores.requireExactSpace(cluster);
            cluster.close();
        }
    }

    @ParameterizedTest
    @CsvSource({"1,1,1000", "3,3,1000", "3,3,50000"})
    void shouldGetSpaceBackFromRemovals(int servers, int replicas, int length) {
        try (EmbeddedCluster cluster = EmbeddedCluster.open(EmbeddedSettings.of(settings(servers, replicas)));
                RowanClient client = Stores.client(cluster)) {
            final int cache = Stores.cache(client);
            // A large entry needs its space twice for a moment.
            final int keys = objects(cluster, length > 4096 ? 0.7 : 0.85, length + 100);
            for (int cycle = 1; cycle <= TIMES; cycle++) {
                for (int k = 0; k < keys; k++) {
                    client.put(cache, bytes(cycle + "-" + k), value("v", k, length));
                }
                for (int k = 0; k < keys; k++) {
                    assertThat(client.remove(cache, bytes(cycle + "-" + k)).existed())
                            .isTrue();
                }
            }
            assertThat(client.scan(cache, false).hasNext()).isFalse();
            if (length < 4096) {
                assertThat(tombstonesDropped(cluster)).isPositive();
            }
            Stores.requireHealth(cluster);
        }
    }

    @ParameterizedTest
    @CsvSource({"1,1,1000", "3,3,1000", "3,3,50000"})
    void shouldGetSpaceBackFromClears(int servers, int replicas, int length) {
        final EmbeddedSettings settings =
                EmbeddedSettings.of(settings(servers, replicas).andThen(with -> with.dir = dir));
        for (int round = 0; round < 2; round++) {
            try (EmbeddedCluster cluster = EmbeddedCluster.open(settings);
                    RowanClient client = Stores.client(cluster, round)) {
                final int cache = Stores.cache(client);
                assertThat(client.scan(cache, false).hasNext()).isFalse();
                final int keys = objects(cluster, length > 4096 ? 0.7 : 0.85, length + 100);
                for (int cycle = 1; cycle <= TIMES; cycle++) {
                    for (int k = 0; k < keys; k++) {
                        client.put(cache, bytes(cycle + "-" + k), value("v", k, length));
                    }
                    client.clear(cache);
                    assertThat(client.get(cache, bytes(cycle + "-0"))).isNull();
                }
                Stores.requireHealth(cluster);
            }
        }
    }

    @Test
    void shouldGetSpaceBackFromShortLivedKeysBesideLongLivedOnes() {
        try (EmbeddedCluster cluster = EmbeddedCluster.open(EmbeddedSettings.of(settings(3, 3)));
                RowanClient client = Stores.client(cluster)) {
            final int cache = Stores.cache(client);
            final int cold = objects(cluster, 0.8, 1100);
            for (int k = 0; k < cold; k++) {
                client.put(cache, bytes("cold" + k), value("cold" + k, k, 1000));
            }
            for (int i = 0; i < TIMES * 3_000; i++) {
                client.put(cache, bytes("session" + i), value("s", i, 200));
                client.remove(cache, bytes("session" + i));
            }
            for (int k = 0; k < cold; k++) {
                assertThat(numberOf("cold" + k, client.get(cache, bytes("cold" + k))))
                        .isEqualTo(k);
            }
            assertThat(tombstonesDropped(cluster)).isPositive();
            Stores.requireHealth(cluster);
        }
    }
}
