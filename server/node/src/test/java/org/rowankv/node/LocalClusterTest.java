package org.rowankv.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.session.NetSession;
import org.rowankv.driver.session.NetSettings;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.SystemClock;

/** A local cluster of processes, as its command starts and stops it, and a client that comes in at its ports. */
class LocalClusterTest {
    @TempDir
    Path dir;

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static NetSession session(LocalCluster cluster) {
        return NetSession.connect(
                List.of(cluster.clientsOf(0).toString(), cluster.clientsOf(1).toString()),
                NetSettings.DEFAULT,
                SystemClock.INSTANCE);
    }

    @Test
    void shouldServeClientsAndFindEverythingAfterAStop() throws IOException {
        final LocalCluster cluster =
                LocalCluster.openOrMake(dir, new LocalCluster.Shape(2, 2, "32m", LocalPorts.free(7)));
        try {
            cluster.start();
            assertThat(cluster.awaitServing(60_000)).isEmpty();
            try (NetSession session = session(cluster)) {
                final RowanClient client =
                        new RowanClient(session, SystemClock.INSTANCE, new SplittableRandomSource(1));
                final int cache =
                        client.catalogue().create("cache", new byte[] {1}).id();
                for (int i = 0; i < 300; i++) {
                    client.put(cache, bytes("key" + i), bytes("value" + i));
                }
                final int gone = client.catalogue().create("gone", new byte[0]).id();
                client.put(gone, bytes("key"), bytes("value"));
                assertThat(client.catalogue().destroy("gone")).isTrue();
            }
            assertThat(cluster.stop()).isEmpty();
            cluster.start();
            assertThat(cluster.awaitServing(60_000)).isEmpty();
            try (NetSession session = session(cluster)) {
                final RowanClient client =
                        new RowanClient(session, SystemClock.INSTANCE, new SplittableRandomSource(2));
                final int cache = client.catalogue().find("cache").id();
                for (int i = 0; i < 300; i++) {
                    assertThat(client.get(cache, bytes("key" + i))).isEqualTo(bytes("value" + i));
                }
                assertThat(client.catalogue().find("gone")).isNull();
            }
        } finally {
            assertThat(cluster.stop()).isEmpty();
        }
    }
}
