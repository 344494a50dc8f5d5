package org.rowankv.daemon;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.curator.test.TestingServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.daemon.admin.AdminRequest;
import org.rowankv.daemon.local.LocalPorts;
import org.rowankv.daemon.local.LocalProcess;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.net.NetSession;
import org.rowankv.driver.net.NetSettings;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.membership.HostAndPort;
import picocli.CommandLine;

/**
 * Server processes that listen at the IPv6 loopback address only: for clients, for each other, and for admin requests.
 */
class Ipv6ClusterTest {
    private static final String HOST = "::1";
    private static final String CLUSTER = "six";
    private static final int PORTS_PER_SERVER = 3;

    @TempDir
    Path dir;

    private static boolean hasIpv6Loopback() {
        try (ServerSocket probe = new ServerSocket(0, 1, InetAddress.getByName(HOST))) {
            return probe.isBound();
        } catch (IOException e) {
            return false;
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static boolean serves(LocalProcess process, HostAndPort clients) {
        if (process.running().isEmpty()) {
            throw new AssertionError(process.name() + " has ended:\n" + process.lastLines());
        }
        try {
            return AdminRequest.ask(HOST, clients.port() + 2, "health")
                    .equals("serving\nfabric tcp, acknowledges at LANDED\n");
        } catch (IOException e) {
            return false;
        }
    }

    private static String status(String zooKeeper) {
        final StringWriter out = new StringWriter();
        new CommandLine(new StatusCommand())
                .setOut(new PrintWriter(out))
                .execute("--json", "--zookeeper=" + zooKeeper, "--cluster=" + CLUSTER);
        return out.toString();
    }

    @Test
    void shouldServeAtTheIpv6LoopbackAddress() throws Exception {
        assumeTrue(hasIpv6Loopback(), "this machine has no IPv6 loopback address (::1): nothing was tested here");
        final int port = LocalPorts.free(2 * PORTS_PER_SERVER);
        final List<LocalProcess> processes = new ArrayList<>();
        final List<HostAndPort> clients = new ArrayList<>();
        try (TestingServer zooKeeper = new TestingServer(true)) {
            for (int server = 0; server < 2; server++) {
                final LocalProcess process = new LocalProcess(dir, "server-" + server);
                final HostAndPort listen = new HostAndPort(HOST, port + server * PORTS_PER_SERVER);
                processes.add(process);
                clients.add(listen);
                process.start(
                        Launch.DEFAULT.withJvmOptions("-Xmx192m").endingWithParent(),
                        ServerCommand.class,
                        List.of(
                                "--name=" + process.name(),
                                "--data=" + dir.resolve(process.name()),
                                "--zookeeper=" + zooKeeper.getConnectString(),
                                "--cluster=" + CLUSTER,
                                "--listen=" + listen,
                                "--admin-listen=" + new HostAndPort(HOST, listen.port() + 2),
                                "--expect=2",
                                "--replicas=2",
                                "--capacity=32m"));
            }
            for (int server = 0; server < 2; server++) {
                final int one = server;
                await().atMost(Duration.ofSeconds(120)).until(() -> serves(processes.get(one), clients.get(one)));
            }
            requireWritesAndReads(clients.get(0));
            assertThat(status(zooKeeper.getConnectString()))
                    .contains("\"serving\":2")
                    .contains("\"clients\":\"" + clients.get(0) + "\"")
                    .contains("\"address\":\""
                            + new HostAndPort(HOST, clients.get(1).port() + 1) + "\"");
        } finally {
            for (LocalProcess process : processes) {
                assertThat(process.stop(60_000)).as(process.name()).isTrue();
            }
        }
    }

    /** A client that is configured with one server, and receives the other one's address. */
    private static void requireWritesAndReads(HostAndPort known) {
        assertThat(known.toString()).startsWith("[::1]:");
        try (NetSession session =
                NetSession.connect(List.of(known.toString()), NetSettings.DEFAULT, SystemClock.INSTANCE)) {
            final RowanClient client = new RowanClient(session, SystemClock.INSTANCE, new SplittableRandomSource(1));
            final int cache = client.catalogue().create("cache", new byte[] {1}).id();
            for (int i = 0; i < 200; i++) {
                client.put(cache, bytes("key" + i), bytes("value" + i));
            }
            for (int i = 0; i < 200; i++) {
                assertThat(client.get(cache, bytes("key" + i))).isEqualTo(bytes("value" + i));
            }
        }
    }
}
