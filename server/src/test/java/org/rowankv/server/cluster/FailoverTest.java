package org.rowankv.server.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.driver.RowanClient;
import org.rowankv.topology.Configuration;

/** A cluster goes on without a server, and takes it back. */
final class FailoverTest {
    private static final int CACHE = 1;
    private static final int KEYS = 300;

    @TempDir
    Path dir;

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static void write(RowanClient client, String value) {
        for (int i = 0; i < KEYS; i++) {
            client.put(CACHE, bytes("key" + i), bytes(value + i));
        }
    }

    private static void requireAll(RowanClient client, String value) {
        for (int i = 0; i < KEYS; i++) {
            assertThat(client.get(CACHE, bytes("key" + i))).as("key %d", i).isEqualTo(bytes(value + i));
        }
    }

    private static void awaitMembers(ClusterBed bed, int asked, int members) {
        await().atMost(Duration.ofSeconds(30)).until(() -> {
            final Configuration present = bed.members.get(asked).server.configuration();
            return present != null
                    && present.members().size() == members
                    && present.shards().stream()
                            .allMatch(shard -> shard.joining().isEmpty());
        });
    }

    private void shouldGoOnWithout(int lost) {
        try (ClusterBed bed =
                new ClusterBed(dir, 3, 2, 8 << 20).withUsualLease().startAll()) {
            final int other = (lost + 1) % 3;
            final RowanClient client = bed.client(1);
            write(client, "first");
            bed.members.get(lost).kill();
            awaitMembers(bed, other, 2);
            write(client, "second");
            requireAll(client, "second");
            bed.members.get(lost).start();
            await().atMost(Duration.ofSeconds(30)).until(() -> {
                final Configuration present = bed.members.get(other).server.configuration();
                return present.members().size() == 3
                        && present.shards().stream()
                                .allMatch(shard -> shard.replicaCount() == 2
                                        && shard.joining().isEmpty());
            });
            write(client, "third");
            requireAll(client, "third");
            bed.awaitServing();
            ClusterServersTest.awaitAgreement(bed);
        }
    }

    @Test
    void shouldGoOnWithoutAServer() {
        shouldGoOnWithout(2);
    }

    @Test
    void shouldGoOnWithoutTheManager() {
        shouldGoOnWithout(0);
    }
}
