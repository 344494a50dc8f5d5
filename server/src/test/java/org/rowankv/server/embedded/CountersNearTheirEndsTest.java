package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;




import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rowankv.driver.RowanClient;
import org.rowankv.runtime.CounterStarts;
import org.rowankv.server.Server;

/** Stores whose counters begin a little before the values at which something happens to them, and go past those. */
final class CountersNearTheirEndsTest {
    private static final int CAPACITY = 4 << 20;

    @TempDir
    private Path dir;

    private static EmbeddedCluster open(EmbeddedSettings settings, long stepsLeft) {
        return EmbeddedCluster.open(
                settings,
                Surroundings.machine()
                        .withTuning(usual -> usual.withCounters(CounterStarts.nearEnds(stepsLeft))));
    }

    private EmbeddedSettings settings(int servers, int replicas) {
        return EmbeddedSettings.builder()
                .servers(servers)
                .replicas(replicas)
                .shards(2 * servers)
                .workers(4)
                .capacityBytes(CAPACITY)
                .maxMessage(4096)
                .dir(dir)
                .build();
    }

    /** Server 0 begins before 2^31, server 1 before 2^32. Numbers are in DRAM, on disk, in checkpoints and in frames. */
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
}
