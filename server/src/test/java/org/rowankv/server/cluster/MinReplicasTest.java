package org.rowankv.server.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.api.RowanException;
import org.rowankv.protocol.Status;
import org.rowankv.server.engine.Server;

/** A shard with too few complete replicas takes no writes. */
final class MinReplicasTest {
    private static final int CACHE = 1;
    private static final int KEYS = 60;

    @TempDir
    Path dir;

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void shouldRefuseWritesUntilAServerHasReturnedAndReadMeanwhile() {
        try (ClusterBed bed = new ClusterBed(dir, 2, 2, 8 << 20)
                .withUsualLease()
                .withMinReplicas(2)
                .startAll()) {
            final RowanClient client = bed.client(1, 2_000_000_000L);
            for (int i = 0; i < KEYS; i++) {
                client.put(CACHE, bytes("key" + i), bytes("first"));
            }
            bed.members.get(1).kill();
            await().atMost(Duration.ofSeconds(30))
                    .until(() -> bed.members.get(0).server.inForce().members().size() == 1);
            assertThatThrownBy(() -> client.put(CACHE, bytes("key1"), bytes("second")))
                    .isInstanceOf(RowanException.class)
                    .hasMessageContaining("fewer complete replicas than min-replicas")
                    .extracting(thrown -> ((RowanException) thrown).status())
                    .isEqualTo(Status.UNDER_REPLICATED);
            assertThatThrownBy(() -> client.remove(CACHE, bytes("key2"))).isInstanceOf(RowanException.class);
            for (int i = 0; i < KEYS; i++) {
                assertThat(client.get(CACHE, bytes("key" + i))).isEqualTo(bytes("first"));
            }
            bed.members.get(1).start();
            // A put gives up after its deadline: what the server lacks may take longer.
            await().atMost(Duration.ofSeconds(60))
                    .ignoreExceptionsInstanceOf(RowanException.class)
                    .untilAsserted(() -> {
                        final Server first = bed.members.get(0).server.server();
                        assertThat(first).isNotNull();
                        client.put(CACHE, bytes("key1"), bytes("third"));
                    });
            assertThat(bed.members.get(0).server.inForce().shards())
                    .anyMatch(shard ->
                            shard.replicaCount() == 2 && shard.joining().isEmpty());
            assertThat(client.get(CACHE, bytes("key1"))).isEqualTo(bytes("third"));
        }
    }
}
