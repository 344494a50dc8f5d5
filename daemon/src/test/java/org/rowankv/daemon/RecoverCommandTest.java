package org.rowankv.daemon;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.curator.test.TestingServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.daemon.admin.AdminRequest;
import org.rowankv.daemon.zookeeper.ZooKeeperConfigurationStore;
import org.rowankv.rdma.tcp.TcpTransport;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.HeldPort;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.cluster.ClientEndpoint;
import org.rowankv.server.cluster.ClusterServer;
import org.rowankv.server.cluster.ClusterSettings;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.frontend.PortCounters;
import org.rowankv.server.membership.ClusterShape;
import org.rowankv.server.membership.HostAndPort;
import picocli.CommandLine;

/** The command finds the lost shards in ZooKeeper, and asks the servers that run at their admin ports. */
class RecoverCommandTest {
    private static final int SHARDS = 8;

    @TempDir
    Path dir;

    private final List<HeldPort> held = new ArrayList<>();

    @AfterEach
    void closeHeld() {
        held.forEach(HeldPort::close);
    }

    private int freePort() {
        held.add(new HeldPort());
        return held.get(held.size() - 1).number();
    }

    private ServerProcess started(String name, TestingServer zooKeeper, int admin) {
        final int port = freePort();
        final ClusterSettings settings = ClusterSettings.of(with -> {
            with.cluster = "recovered";
            with.name = name;
            with.dir = dir.resolve(name);
            with.advertised = new HostAndPort("127.0.0.1", port);
            with.admin = "127.0.0.1:" + admin;
            with.shape = new ClusterShape(2, 1, SHARDS, 64 << 10, 16 << 10, Durability.PROCESS);
            with.capacityBytes = 4 << 20;
            with.workers = 2;
            with.drainMs = 1000;
        });
        return new ServerProcess(
                settings,
                new ZooKeeperConfigurationStore(zooKeeper.getConnectString(), settings.cluster(), 10_000),
                TcpTransport.choose(true),
                new InetSocketAddress("127.0.0.1", port),
                new InetSocketAddress("127.0.0.1", admin),
                ClientEndpoint.NONE,
                new PortCounters(SystemClock.INSTANCE),
                new ErrorLog(SystemClock.INSTANCE));
    }

    /** Its exit code, before what it prints. */
    private static String recover(TestingServer zooKeeper, String... arguments) {
        final StringWriter printed = new StringWriter();
        final PrintWriter writer = new PrintWriter(printed, true);
        final List<String> all =
                new ArrayList<>(List.of("--zookeeper", zooKeeper.getConnectString(), "--cluster", "recovered"));
        all.addAll(List.of(arguments));
        final int exitCode = new CommandLine(new RecoverCommand())
                .setOut(writer)
                .setErr(writer)
                .execute(all.toArray(new String[0]));
        return exitCode + "\n" + printed;
    }

    private static void awaitServing(ClusterServer server, long afterTerm) {
        await().atMost(Duration.ofSeconds(60)).untilAsserted(() -> {
            assertThat(server.server()).as(server.saying()).isNotNull();
            assertThat(server.inForce().term()).isGreaterThan(afterTerm);
        });
    }

    /** Until nothing changes the configuration: the other server may have been the manager. */
    private static void awaitManager(ClusterServer server) {
        await().atMost(Duration.ofSeconds(60))
                .until(() -> server.configuration().manager() == server.serverId());
    }

    @Test
    void shouldGoOnWithoutAServerThatIsLost() throws Exception {
        try (TestingServer zooKeeper = new TestingServer(true)) {
            final int admin = freePort();
            try (ServerProcess first = started("a", zooKeeper, admin)) {
                try (ServerProcess second = started("b", zooKeeper, freePort())) {
                    awaitServing(first.server(), 0);
                    awaitServing(second.server(), 0);
                    assertThat(AdminRequest.ask("127.0.0.1", admin, "replicas")).isEmpty();
                    assertThat(recover(zooKeeper, "--without", "b", "--yes"))
                            .startsWith("1\n")
                            .contains("server 'b' runs");
                }
                awaitManager(first.server());
                final long term = first.server().configuration().term();
                assertThat(recover(zooKeeper, "--without", "c"))
                        .startsWith("1\n")
                        .contains("no server 'c'");
                assertThat(recover(zooKeeper, "--without", "b"))
                        .startsWith("1\n")
                        .contains(": complete on b only; nothing is left: begins empty on a")
                        .contains("The other 4 of 8 shards lose nothing.")
                        .contains("nothing is changed; repeat it with --yes");
                assertThat(first.server().configuration().term()).isEqualTo(term);

                assertThat(recover(zooKeeper, "--without", "b", "--yes"))
                        .startsWith("0\n")
                        .containsPattern("recover: term=[0-9]+ lost-shards=4 empty=4\\s*$");
                awaitServing(first.server(), term);
                assertThat(first.server().inForce().primariesOf(0)).hasSize(SHARDS);
            }
        }
    }

    @Test
    void shouldRefuseAStoreWithoutTheCluster() throws Exception {
        try (TestingServer zooKeeper = new TestingServer(true)) {
            assertThat(recover(zooKeeper, "--without", "b"))
                    .startsWith("1\n")
                    .contains("there is no cluster 'recovered' there");
        }
    }
}
