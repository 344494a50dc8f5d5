package org.rowankv.daemon.local;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.daemon.Launch;
import org.rowankv.daemon.OpenMetrics;
import org.rowankv.daemon.StatusCommand;
import org.rowankv.daemon.admin.Metric;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.net.NetSession;
import org.rowankv.driver.net.NetSettings;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.SystemClock;
import picocli.CommandLine;

/** A local cluster of processes, started and stopped by its command, and a client at its ports. */
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

    /** Output of the command. */
    private static String metrics(LocalCluster cluster) {
        final StringWriter out = new StringWriter();
        final CommandLine command = new CommandLine(new StatusCommand()).setOut(new PrintWriter(out));
        final int code = command.execute(
                "--metrics", "--zookeeper=" + cluster.zooKeeperAddress(), "--cluster=" + LocalCluster.CLUSTER);
        assertThat(code).isZero();
        return out.toString();
    }

    /** Output of the command. */
    private static String json(LocalCluster cluster) {
        final StringWriter out = new StringWriter();
        final CommandLine command = new CommandLine(new StatusCommand()).setOut(new PrintWriter(out));
        final int code = command.execute(
                "--json", "--zookeeper=" + cluster.zooKeeperAddress(), "--cluster=" + LocalCluster.CLUSTER);
        assertThat(code).isZero();
        return out.toString();
    }

    private static void requireMetrics(LocalCluster cluster, String text) {
        final Map<String, OpenMetrics.Family> read = OpenMetrics.read(text);
        assertThat(read).hasSize(Metric.values().length);
        read.values()
                .forEach(
                        family -> assertThat(family.samples()).as(family.name()).isNotEmpty());
        final int servers = cluster.shape().servers();
        assertThat(read.get("rowan_up").samples()).hasSize(servers);
        assertThat(read.get("rowan_serving").sum()).isEqualTo(servers);
        assertThat(read.get("rowan_client_requests").sum("operation", "put", "status", "ok"))
                .isEqualTo(301);
        assertThat(read.get("rowan_client_requests").sum("operation", "clear", "status", "ok"))
                .isZero(); // the catalogue's own
        assertThat(read.get("rowan_shards").sum("role", "primary")).isEqualTo(48 * servers);
        assertThat(read.get("rowan_client_request_duration_seconds").sum("operation", "put"))
                .isEqualTo(301);
        assertThat(read.get("rowan_tlog_written_bytes").sum()).isPositive();
        assertThat(read.get("rowan_errors").sum()).as(text).isZero();
    }

    @Test
    void shouldServeClientsAndFindEverythingAfterAStop() throws IOException {
        final LocalCluster cluster = LocalCluster.openOrMake(
                        dir, new LocalCluster.Shape(2, 2, "32m", LocalPorts.free(7)))
                .launchedBy(Launch.DEFAULT.withServerOptions("--threading=dedicated"));
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
            requireMetrics(cluster, metrics(cluster));
            assertThat(json(cluster))
                    .containsPattern("(\"health\":\"serving\",\"threading\":\"dedicated\",\"stale_terms\":[0-9]+,"
                            + "\"retries_joined\":[0-9]+}.*){2}");
            assertThat(cluster.logOf(0)).content().contains("agents=dedicated");
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
