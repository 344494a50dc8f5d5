package org.rowankv.daemon.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.daemon.HealthCommand;
import org.rowankv.daemon.RecoverCommand;
import org.rowankv.daemon.ServerCommand;
import org.rowankv.daemon.StatusCommand;
import org.rowankv.daemon.TopCommand;
import org.rowankv.daemon.TransferCommand;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.net.NetSettings;
import org.rowankv.runtime.SecureSeed;
import org.rowankv.server.configstore.ConfigurationStore;
import org.rowankv.server.membership.ClusterView;
import org.rowankv.tools.InspectCommand;
import picocli.CommandLine;

/** Each command of docs/runbook.md does what it says there, in the event that it is for. */
class RunbookTest {
    private static final Duration PATIENCE = Duration.ofMinutes(3);
    private static final int KEYS = 200;
    private static final String MARK = "a value of the runbook ";
    private static final String IN_CLUSTER = " --zookeeper zk1:2181 --cluster shop";

    @TempDir
    Path dir;

    private LocalCluster cluster;
    private int port;
    private String printed = "";
    private final Set<String> ran = new LinkedHashSet<>();

    private static List<String> documented() throws IOException {
        return Files.readAllLines(Path.of("../docs/runbook.md")).stream()
                .filter(line -> line.startsWith("./rowan ") || line.startsWith("mv "))
                .toList();
    }

    /** Runs a line of the document with the names and places of this test; returns its exit code. */
    private int run(String line) throws IOException {
        ran.add(line);
        final boolean isEndless = line.startsWith("./rowan top") && !line.endsWith("--json");
        final String here = (isEndless ? line + " --count=1" : line)
                .replace("zk1:2181", cluster.zooKeeperAddress())
                .replace("--cluster shop", "--cluster " + LocalCluster.CLUSTER)
                .replace("a:7173", "127.0.0.1:" + (port + 3))
                .replace("/var/lib/rowan/b", cluster.dataOf(1).toString())
                .replace("/var/lib/rowan", dir.toString())
                .replace("--name b", "--name " + cluster.nameOf(1))
                .replace("--without b,c", "--without " + cluster.nameOf(0) + "," + cluster.nameOf(2));
        final String[] words = here.split(" ", -1);
        if (words[0].equals("mv")) {
            Files.move(Path.of(words[1]), Path.of(words[2]));
            return 0;
        }
        final String[] arguments = List.of(words).subList(2, words.length).toArray(new String[0]);
        if (words[1].equals("server")) {
            new CommandLine(new ServerCommand()).parseArgs(arguments);
            cluster.startServer(1);
            return 0;
        }
        final Object command = Map.<String, Object>of(
                        "status", new StatusCommand(),
                        "top", new TopCommand(),
                        "health", new HealthCommand(),
                        "restart", new RestartCommand(),
                        "transfer", new TransferCommand(),
                        "inspect", new InspectCommand(),
                        "recover", new RecoverCommand())
                .get(words[1]);
        final StringWriter out = new StringWriter();
        final PrintWriter writer = new PrintWriter(out, true);
        final CommandLine called = new CommandLine(command).setOut(writer).setErr(writer);
        final int code = called.execute(arguments);
        printed = out.toString();
        return code;
    }

    private void requireRun(String line) throws IOException {
        assertThat(run(line)).as(line + "\n" + printed).isZero();
    }

    private void awaitRun(String line) {
        await().atMost(PATIENCE).untilAsserted(() -> requireRun(line));
    }

    private void awaitWhole() {
        try (ConfigurationStore store = cluster.connect()) {
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(
                                    ClusterLack.of(cluster, ClusterView.read(store, SecureSeed.source())))
                            .isEmpty());
        }
    }

    private static void kill(ProcessHandle process) {
        assertThat(process.destroyForcibly()).isTrue();
        process.onExit().join();
    }

    private RowanClient client() {
        return RowanClient.connect(
                List.of(cluster.clientsOf(0).toString(), cluster.clientsOf(1).toString()),
                NetSettings.DEFAULT.withSpinNs(0));
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private void write() {
        try (RowanClient client = client()) {
            final int cache = client.catalogue().create("cache", new byte[0]).id();
            for (int i = 0; i < KEYS; i++) {
                client.put(cache, bytes("key" + i), bytes(MARK + i));
            }
        }
    }

    private void requireWritten() {
        try (RowanClient client = client()) {
            final int cache = client.catalogue().find("cache").id();
            for (int i = 0; i < KEYS; i++) {
                assertThat(client.get(cache, bytes("key" + i))).isEqualTo(bytes(MARK + i));
            }
        }
    }

    /** Flips a bit of each value in the server's area. */
    private void damage(int server) throws IOException {
        final Path area = cluster.dataOf(server).resolve("area-" + server + ".rowan");
        final byte[] content = Files.readAllBytes(area);
        final String text = new String(content, StandardCharsets.ISO_8859_1);
        assertThat(text).contains(MARK);
        for (int at = text.indexOf(MARK); at >= 0; at = text.indexOf(MARK, at + 1)) {
            content[at] ^= 1;
        }
        Files.write(area, content);
    }

    @Test
    void shouldRunEachCommandInItsEvent() throws Exception {
        port = LocalPorts.free(10);
        cluster = LocalCluster.openOrMake(dir, new LocalCluster.Shape(3, 2, "32m", port));
        try {
            cluster.start();
            assertThat(cluster.awaitServing(PATIENCE.toMillis())).isEmpty();
            write();
            look();
            move();
            loseDataOfOne();
            loseZooKeeper();
            loseTwoForGood();
        } finally {
            assertThat(cluster.stop()).isEmpty();
        }
        assertThat(ran).containsExactlyInAnyOrderElementsOf(Set.copyOf(documented()));
    }

    private void look() throws IOException {
        awaitRun("./rowan health --admin a:7173 --ready");
        awaitRun("./rowan status" + IN_CLUSTER);
        assertThat(printed).endsWith(" serving=3 degraded=0\n");
        requireRun("./rowan top" + IN_CLUSTER);
        assertThat(printed).contains("of 3 servers ready, 144 shards, copies 288 of 288, joining 0");
        requireRun("./rowan top" + IN_CLUSTER + " --json");
        requireRun("./rowan status" + IN_CLUSTER + " --metrics");
        assertThat(printed).contains("\nrowan_space_available_bytes{server=\"server-3\"}");
    }

    private void move() throws IOException {
        requireRun("./rowan restart --rolling --dir /var/lib/rowan");
        cluster = LocalCluster.open(dir); // the command has started other processes
        requireRun("./rowan transfer" + IN_CLUSTER + " --shard 0");
        requireWritten();
    }

    private void loseDataOfOne() throws IOException {
        assertThat(cluster.stopServer(1)).isTrue();
        damage(1);
        assertThat(run("./rowan inspect /var/lib/rowan/b --verify")).as(printed).isEqualTo(1);
        requireRun("mv /var/lib/rowan/b /var/lib/rowan/b.damaged");
        requireRun("./rowan server --name b --data /var/lib/rowan/b --zookeeper zk1:2181 --cluster shop --expect 3");
        awaitWhole();
        awaitRun("./rowan health --admin a:7173 --ready");
        requireWritten();
    }

    private void loseZooKeeper() throws IOException {
        kill(cluster.zooKeeperProcess().orElseThrow());
        awaitRun("./rowan health --admin a:7173 --ready");
        cluster.startZooKeeper();
        awaitRun("./rowan status" + IN_CLUSTER);
    }

    private void loseTwoForGood() throws IOException {
        // The first one has replicas of all shards by now.
        kill(cluster.serverProcess(0).orElseThrow());
        kill(cluster.serverProcess(2).orElseThrow());
        assertThat(run("./rowan recover" + IN_CLUSTER + " --without b,c")).isEqualTo(1);
        assertThat(printed).contains("nothing is changed; repeat it with --yes");
        awaitRun("./rowan recover" + IN_CLUSTER + " --without b,c --yes");
    }
}
