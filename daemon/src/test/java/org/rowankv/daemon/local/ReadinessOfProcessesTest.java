package org.rowankv.daemon.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.daemon.HealthCommand;
import org.rowankv.daemon.Launch;
import org.rowankv.daemon.TopCommand;
import org.rowankv.runtime.SecureSeed;
import org.rowankv.server.configstore.ConfigurationStore;
import org.rowankv.server.membership.ClusterView;
import picocli.CommandLine;

/** What supervisors and operators see of processes that start, join, are cut off, and stop. */
class ReadinessOfProcessesTest {
    private static final int SERVERS = 3;
    private static final Duration PATIENCE = Duration.ofMinutes(3);

    @TempDir
    Path dir;

    private LocalCluster cluster;
    private int port;
    private String printed = "";

    @BeforeEach
    void makeCluster() throws IOException {
        port = LocalPorts.free(1 + 3 * SERVERS);
        cluster = LocalCluster.openOrMake(dir, new LocalCluster.Shape(SERVERS, 2, "32m", port))
                .launchedBy(Launch.DEFAULT.withServerOptions("--lease=4000"));
    }

    @AfterEach
    void stopAll() throws Exception {
        for (int server = 0; server < SERVERS; server++) {
            signal(server, "CONT");
        }
        assertThat(cluster.stop()).isEmpty();
    }

    private void signal(int server, String name) throws Exception {
        final ProcessHandle process = cluster.serverProcess(server).orElse(null);
        if (process != null) {
            await().until(
                            new ProcessBuilder("kill", "-" + name, Long.toString(process.pid()))
                                    .inheritIO()
                                    .start()::waitFor,
                            code -> code == 0);
        }
    }

    private static void kill(ProcessHandle process) {
        assertThat(process.destroyForcibly()).isTrue();
        process.onExit().join();
    }

    private String adminOf(int server) {
        return "127.0.0.1:" + (port + 3 * (server + 1));
    }

    private int run(Object command, String... arguments) {
        final StringWriter out = new StringWriter();
        final PrintWriter writer = new PrintWriter(out, true);
        final int code = new CommandLine(command).setOut(writer).setErr(writer).execute(arguments);
        printed = out.toString();
        return code;
    }

    private int health(int server, String... options) {
        final String[] all = new String[options.length + 1];
        System.arraycopy(options, 0, all, 0, options.length);
        all[options.length] = "--admin=" + adminOf(server);
        return run(new HealthCommand(), all);
    }

    private int top(String... options) {
        final String[] all = new String[options.length + 3];
        all[0] = "--zookeeper=" + cluster.zooKeeperAddress();
        all[1] = "--cluster=" + LocalCluster.CLUSTER;
        all[2] = "--interval=0.1";
        System.arraycopy(options, 0, all, 3, options.length);
        return run(new TopCommand(), all);
    }

    private int http(int server, String path) throws Exception {
        final HttpResponse<String> answer = HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(URI.create("http://" + adminOf(server) + path))
                                .build(),
                        HttpResponse.BodyHandlers.ofString());
        printed = answer.body();
        return answer.statusCode();
    }

    private void awaitReady(int server) {
        await().atMost(PATIENCE)
                .untilAsserted(
                        () -> assertThat(health(server, "--ready")).as(printed).isZero());
    }

    private void awaitLack(int server, String lack) {
        await().atMost(PATIENCE).untilAsserted(() -> {
            assertThat(health(server, "--ready")).isEqualTo(1);
            assertThat(printed).isEqualTo("not ready: " + lack + "\n");
        });
    }

    @Test
    void shouldNotBeReadyBeforeTheClusterIsComplete() throws Exception {
        cluster.startZooKeeper();
        cluster.startServer(0);
        awaitLack(0, "joining");
        assertThat(health(0)).isEqualTo(1);
        assertThat(health(0, "--live")).isZero();
        assertThat(http(0, "/live")).isEqualTo(200);
        assertThat(http(0, "/ready")).isEqualTo(503);
        assertThat(printed).isEqualTo("not ready: joining\n");
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(top("--json")).as(printed).isZero());
        assertThat(printed).contains("\"manager\":\"-\",\"ready\":0,").contains("\"readiness\":\"not ready: joining\"");
    }

    @Test
    void shouldBeReadyWhileItServesItsShardsAndOnlyThen() throws Exception {
        cluster.start();
        assertThat(cluster.awaitServing(PATIENCE.toMillis())).isEmpty();
        for (int server = 0; server < SERVERS; server++) {
            awaitReady(server);
        }
        assertThat(http(0, "/ready")).isEqualTo(200);
        assertThat(http(0, "/metrics")).isEqualTo(200);
        assertThat(printed).startsWith("# TYPE rowan_up gauge\n").endsWith("# EOF\n");
        assertThat(top("--json")).isZero();
        assertThat(printed).contains("\"ready\":3,").contains("\"gets_per_s\":0,");
        assertThat(top("--count=2")).isZero();
        assertThat(printed).contains("3 of 3 servers ready").doesNotContain("\033");

        // A server that is killed and returns is ready when its replicas are complete, and not before.
        final long termBefore = termOf();
        kill(cluster.serverProcess(1).orElseThrow());
        assertThat(health(1, "--ready")).isEqualTo(1);
        assertThat(health(1, "--live")).isEqualTo(1);
        await().atMost(PATIENCE).until(() -> termOf() > termBefore);
        cluster.startServer(1);
        assertThat(cluster.awaitServing(PATIENCE.toMillis())).isEmpty();
        awaitReady(1);
        try (ConfigurationStore store = cluster.connect()) {
            assertThat(ClusterLack.of(cluster, ClusterView.read(store, SecureSeed.source())))
                    .isEmpty();
        }

        // Alone it may not answer: it is not ready, though its process lives.
        signal(1, "STOP");
        signal(2, "STOP");
        awaitLack(0, "no lease");
        assertThat(health(0, "--live")).isZero();
        assertThat(top("--json")).as("one answers").isZero();
        signal(1, "CONT");
        signal(2, "CONT");
        awaitReady(0);

        // Without ZooKeeper the data path goes on.
        kill(cluster.zooKeeperProcess().orElseThrow());
        await().atMost(PATIENCE).until(() -> health(0) == 0 && printed.contains("configuration store is unreachable"));
        awaitReady(0);
        assertThat(top("--json")).isEqualTo(2);
        assertThat(printed).contains("ZooKeeper");
        cluster.startZooKeeper();
    }

    private long termOf() {
        try (ConfigurationStore store = cluster.connect()) {
            return ClusterView.read(store, SecureSeed.source()).configuration().term();
        }
    }

    @Test
    void shouldNameWhatDoesNotAnswer() {
        assertThat(run(new TopCommand(), "--zookeeper=127.0.0.1:1", "--interval=0"))
                .isEqualTo(2);
        assertThat(printed).contains("--interval must be 0.1..3600");
        assertThat(run(new TopCommand(), "--zookeeper=127.0.0.1:1", "--json")).isEqualTo(2);
        assertThat(printed).contains("127.0.0.1:1");
    }
}
