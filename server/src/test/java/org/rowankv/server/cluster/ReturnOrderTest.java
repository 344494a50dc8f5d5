package org.rowankv.server.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.driver.RowanClient;
import org.rowankv.topology.Configuration;

/** Three servers with two replicas lose one after the other, or all; these return in every order, or one never does. */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class ReturnOrderTest {
    private static final int CACHE = 1;
    private static final int KEYS = 200;
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int[][] ORDERS = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

    @TempDir
    Path dir;

    private int writes;

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private void write(RowanClient client) {
        writes++;
        for (int i = 0; i < KEYS; i++) {
            client.put(CACHE, bytes("key" + i), bytes(writes + "/" + i));
        }
    }

    private void requireAll(RowanClient client) {
        for (int i = 0; i < KEYS; i++) {
            assertThat(client.get(CACHE, bytes("key" + i))).as("key %d", i).isEqualTo(bytes(writes + "/" + i));
        }
    }

    private ClusterBed started() {
        return new ClusterBed(dir, 3, 2, 8 << 20).startAll();
    }

    private static RowanClient client(ClusterBed bed) {
        return bed.client(1, PATIENCE.toNanos());
    }

    /** Until that many servers share all shards, each with two complete replicas. */
    private static void awaitWhole(ClusterBed.Member asked, int servers) {
        await().atMost(PATIENCE).until(() -> {
            final Configuration present = asked.server.configuration();
            return present != null
                    && present.members().size() == servers
                    && present.shards().stream()
                            .allMatch(shard ->
                                    shard.replicaCount() == 2 && shard.joining().isEmpty());
        });
    }

    @Test
    void shouldHaveAllWhenAnotherServerIsLostAfterTheReplicasOfTheFirstWereCopied() {
        try (ClusterBed bed = started()) {
            final RowanClient client = client(bed);
            write(client);
            bed.members.get(2).kill();
            awaitWhole(bed.members.get(1), 2);
            requireAll(client);
            write(client);
            bed.members.get(0).kill();
            requireAll(client);
            write(client);
            requireAll(client);
        }
    }

    @Test
    void shouldServeInWhateverOrderServersStart() {
        try (ClusterBed bed = started()) {
            final RowanClient client = client(bed);
            for (int[] order : ORDERS) {
                write(client);
                bed.members.forEach(ClusterBed.Member::kill);
                for (int server : order) {
                    bed.members.get(server).start();
                }
                requireAll(client);
                awaitWhole(bed.members.get(0), 3);
            }
        }
    }

    @Test
    void shouldServeWithoutAServerThatNeverReturns() {
        try (ClusterBed bed = started()) {
            final RowanClient client = client(bed);
            write(client);
            bed.members.forEach(ClusterBed.Member::kill);
            bed.members.get(2).start();
            bed.members.get(1).start();
            requireAll(client);
            write(client);
            awaitWhole(bed.members.get(1), 2);
            requireAll(client);
        }
    }
}
