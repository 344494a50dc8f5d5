package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rowankv.server.embedded.Stores.bytes;

import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.rowankv.driver.ChangeSubscription;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.session.NetSession;
import org.rowankv.driver.session.NetSettings;
import org.rowankv.protocol.Change;
import org.rowankv.protocol.Request;
import org.rowankv.runtime.ManualClock;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.client.ClientPortSettings;

/** Subscribers in another process, as far as they can tell: they hear of every commit once, in order, or that they did not. */
final class ChangeStreamTest {
    private final ManualClock clock = new ManualClock(1_000_000_000L, 1_700_000_000_000L);
    private EmbeddedCluster cluster;
    private EmbeddedPorts ports;

    @BeforeEach
    void open() {
        cluster = EmbeddedCluster.open(
                EmbeddedSettings.builder()
                        .servers(3)
                        .replicas(2)
                        .shards(6)
                        .workers(3)
                        .build(),
                clock,
                new SplittableRandomSource(17));
        ports = EmbeddedPorts.open(cluster, ClientPortSettings.at("127.0.0.1", 0));
    }

    @AfterEach
    void close() {
        ports.close();
        assertThat(cluster.errors().distinct()).isEmpty();
        cluster.close();
    }

    private NetSession session() {
        return NetSession.connect(ports.addresses(), NetSettings.DEFAULT, SystemClock.INSTANCE);
    }

    private static RowanClient client(NetSession session, long seed) {
        return new RowanClient(session, SystemClock.INSTANCE, new SplittableRandomSource(seed));
    }

    private static String text(byte[] bytes) {
        return bytes == null ? "-" : new String(bytes, java.nio.charset.StandardCharsets.UTF_8);
    }

    private static List<String> told(List<Change> changes) {
        return changes.stream()
                .map(change -> change.type() + " " + text(change.value()) + " " + text(change.oldValue()))
                .toList();
    }

    @Test
    void shouldTellWhatEveryOperationDid() {
        try (NetSession session = session();
                RowanClient client = client(session, 1)) {
            final int cache = Stores.cache(client);
            final HeardChanges heard = new HeardChanges();
            client.put(cache, bytes("k"), bytes("before"));
            try (ChangeSubscription subscription = client.subscribe(cache, true, null, heard)) {
                final long updated = client.put(cache, bytes("k"), bytes("a")).version();
                client.remove(cache, bytes("k"));
                client.remove(cache, bytes("k")); // nothing there
                client.put(cache, bytes("k"), bytes("b"));
                client.putIfAbsent(cache, bytes("k"), bytes("no"));
                client.execute(new Request()
                        .put(cache, bytes("k"), 0, 1, bytes("short"), 0, 5)
                        .ttl(1_000, 1_000));
                clock.advanceMs(1_000);
                client.get(cache, bytes("k"));
                client.put(cache, bytes("k"), bytes("c"));
                client.clear(cache); // tells nobody
                client.put(cache, bytes("k"), bytes("d"));
                heard.awaitCount(7);
                assertThat(told(heard.of("k")))
                        .containsExactly(
                                "UPDATED a before",
                                "REMOVED - a",
                                "CREATED b -",
                                "UPDATED short b",
                                "EXPIRED - short",
                                "CREATED c -",
                                "CREATED d -");
                assertThat(heard.of("k").get(0).version()).isEqualTo(updated);
                assertThat(heard.losses()).isZero();
                assertThat(subscription.timesLost()).isZero();
            }
        }
    }
}
