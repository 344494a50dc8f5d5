package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rowankv.server.embedded.Stores.bytes;
import static org.rowankv.server.embedded.Stores.numberOf;
import static org.rowankv.server.embedded.Stores.value;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rowankv.driver.RowanClient;
import org.rowankv.protocol.Version;
import org.rowankv.runtime.CounterStarts;
import org.rowankv.server.engine.Server;
import org.rowankv.topology.KeyHash;
import org.rowankv.topology.ShardMap;

/** Stores whose counters start shortly before a threshold, and pass it. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class CountersNearTheirEndsTest {
    private static final int MOST_WRITES = 2_000_000;

    private static final int CAPACITY = 4 << 20;

    @TempDir
    private Path dir;

    private static EmbeddedCluster open(EmbeddedSettings settings, long stepsLeft) {
        return EmbeddedCluster.open(
                settings,
                EmbeddedContext.machine().withTuning(with -> with.counters = CounterStarts.nearEnds(stepsLeft)));
    }

    private EmbeddedSettings settings(int servers, int replicas) {
        return EmbeddedSettings.of(with -> {
            with.servers = servers;
            with.replicas = replicas;
            with.shards = 2 * servers;
            with.workers = 4;
            with.capacityBytes = CAPACITY;
            with.maxMessage = 4096;
            with.dir = dir;
        });
    }

    private static int shardOf(EmbeddedCluster cluster, int cache, String key) {
        final long hash = new KeyHash(cluster.configuration().hashSeed()).hash(cache, bytes(key), 0, bytes(key).length);
        return ShardMap.shardOf(hash, cluster.configuration().shardCount());
    }

    /**
     * Server 0 starts before 2^31, server 1 before 2^32. Numbers are in DRAM, on disk, in checkpoints and in frames.
     */
    @ParameterizedTest
    @CsvSource({"1,1", "2,2"})
    void shouldGoOnPastTheSegmentNumbersOf31And32Bits(int servers, int replicas) {
        final PossibleValues values = new PossibleValues("k", 200, 5000);
        final Random random = new Random(servers);
        for (int round = 0; round < 3; round++) {
            final EmbeddedCluster cluster = open(settings(servers, replicas), 40);
            try (RowanClient client = Stores.client(cluster, round)) {
                final int cache = Stores.cache(client);
                values.requirePossible(client, cache);
                for (int i = 0; i < 3000; i++) {
                    values.operate(client, cache, random);
                }
            }
            for (Server server : cluster.servers()) {
                assertThat(server.segments().lastSequence()).isGreaterThan(1L << (31 + server.serverId()));
            }
            Stores.requireHealth(cluster);
            Stores.requireExactSpace(cluster);
            cluster.close();
        }
    }

    /**
     * Even shards start where the next epoch is requested, odd ones where no write is possible without it. Writes
     * before, between and after are found again, in order.
     */
    @ParameterizedTest
    @CsvSource({"1,1", "2,2"})
    void shouldGoOnWithVersionsOfAnotherEpochWhileItRuns(int servers, int replicas) {
        final Map<String, Long> newest = new HashMap<>();
        final Map<Integer, Long> last = new HashMap<>();
        long written = 0;
        for (int round = 0; round < 4; round++) {
            // Every other start begins its epochs as usual: with versions that the previous start must not have
            // assigned.
            final boolean isNear = round % 2 == 0;
            final EmbeddedCluster cluster =
                    isNear ? open(settings(servers, replicas), 50) : EmbeddedCluster.open(settings(servers, replicas));
            final int epoch = cluster.configuration().shard(0).epoch();
            try (RowanClient client = Stores.client(cluster, round)) {
                final int cache = Stores.cache(client);
                newest.forEach((key, number) -> assertThat(numberOf(key, client.get(cache, bytes(key))))
                        .as(key)
                        .isEqualTo(number));
                // The epoch agent runs at intervals: write until every shard has a new epoch.
                for (int i = 0; i < 2000 || isNear && i < MOST_WRITES && !haveAllEpochs(last, epoch + 1); i++) {
                    final String key = "k" + i % 50;
                    final long version = client.put(cache, bytes(key), value(key, ++written, 20))
                            .version();
                    newest.put(key, written);
                    final long before = last.getOrDefault(shardOf(cluster, cache, key), 0L);
                    assertThat(version).as("versions only grow").isGreaterThan(before);
                    last.put(shardOf(cluster, cache, key), version);
                }
                last.forEach((shard, version) -> assertThat(Version.epoch(version))
                        .as("epoch of shard %d", shard)
                        .isGreaterThanOrEqualTo(isNear ? epoch + 1 : epoch)
                        .isLessThanOrEqualTo(
                                cluster.configuration().shard(shard).epoch()));
            }
            Stores.requireHealth(cluster);
            cluster.close();
        }
    }

    private static boolean haveAllEpochs(Map<Integer, Long> versions, int epoch) {
        return versions.values().stream().allMatch(version -> Version.epoch(version) >= epoch);
    }
}
