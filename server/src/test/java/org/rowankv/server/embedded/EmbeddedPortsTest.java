package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rowankv.server.embedded.Stores.bytes;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.net.NetSettings;
import org.rowankv.protocol.CacheLimit;
import org.rowankv.server.frontend.ClientPortSettings;

final class EmbeddedPortsTest {
    private static final int LIMIT = 20;

    /** Each port reports the evictions of its own server. */
    @Test
    @Timeout(value = 120, unit = TimeUnit.SECONDS)
    void shouldCountEachEvictionOnce() {
        try (EmbeddedCluster cluster = EmbeddedCluster.open(EmbeddedSettings.of(with -> {
                    with.servers = 2;
                    with.shards = 4;
                }));
                EmbeddedPorts ports = EmbeddedPorts.open(cluster, ClientPortSettings.at("127.0.0.1", 0));
                RowanClient client = RowanClient.connect(ports.addresses(), NetSettings.DEFAULT)) {
            final int cache = client.catalogue().create("c", new byte[0]).id();
            client.catalogue().limit("c", new CacheLimit(LIMIT, 0));
            for (int i = 0; i < 10 * LIMIT; i++) {
                client.put(cache, bytes("k" + i), bytes("v"));
            }
            cluster.awaitDigested();
            assertThat(cluster.servers()).allMatch(server -> server.limits().evictions(cache) > 0);
            assertThat(client.catalogue().evictions(cache))
                    .isEqualTo(cluster.session().catalogue().evictions(cache));
        }
    }
}
