package org.rowankv.tools;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.driver.RowanClient;
import org.rowankv.rdma.landing.LandingFabric;
import org.rowankv.rdma.landing.LandingFabricSettings;
import org.rowankv.rdma.tcp.TcpTransport;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.SystemClock;
import org.rowankv.runtime.agent.ThreadScheduling;
import org.rowankv.server.checkpoint.CheckpointFiles;
import org.rowankv.server.cluster.ClientEndpoint;
import org.rowankv.server.cluster.ClusterContext;
import org.rowankv.server.cluster.ClusterServer;
import org.rowankv.server.cluster.ClusterSettings;
import org.rowankv.server.configstore.MemoryConfigurationStore;
import org.rowankv.server.directory.ServerDirectory;
import org.rowankv.server.directory.StoreDirectory;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.frontend.ClientPort;
import org.rowankv.server.frontend.ClientPortSettings;
import org.rowankv.server.membership.ClusterShape;
import org.rowankv.server.membership.HostAndPort;
import org.rowankv.server.membership.ServerAddresses;

/** The tools on the data directory of one server of a cluster of processes. */
final class InspectServerTest {
    private static final int OBJECTS = 50;

    @TempDir
    private Path root;

    private Path dir;
    private ToolStore.Run whileItRan;

    @BeforeEach
    void fill() {
        dir = root.resolve("data");
        final ErrorLog errors = new ErrorLog(SystemClock.INSTANCE);
        final ServerAddresses addresses = new ServerAddresses();
        final int[] port = new int[1];
        final ClientEndpoint door = (server, routing, catalogue) -> {
            try {
                final ClientPort opened = ClientPort.bind(
                        server, catalogue, ClientPortSettings.at("127.0.0.1", 0), SystemClock.INSTANCE, errors);
                port[0] = opened.address().getPort();
                final ClientPort serving = opened.serve(
                        new org.rowankv.topology.Routing(routing.configuration(), List.of("127.0.0.1:" + port[0])));
                return serving::close;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        };
        try (LandingFabric fabric = TcpTransport.open(LandingFabricSettings.of(
                        new InetSocketAddress("127.0.0.1", 0),
                        addresses::addressOf,
                        with -> with.keepsReserve = true));
                ClusterServer server = new ClusterServer(
                        settings(),
                        new ClusterContext(
                                new MemoryConfigurationStore(),
                                fabric,
                                addresses,
                                SystemClock.INSTANCE,
                                new SplittableRandomSource(1),
                                ThreadScheduling.INSTANCE,
                                errors,
                                1,
                                door,
                                ServerDirectory::open,
                                number -> new CheckpointFiles(StoreDirectory.checkpointDir(dir, number)),
                                usual -> {}))) {
            server.start();
            await().atMost(Duration.ofSeconds(60)).until(() -> server.server() != null);
            try (RowanClient client = RowanClient.connect(List.of("127.0.0.1:" + port[0]))) {
                final int cache =
                        client.catalogue().create("greetings", new byte[0]).id();
                for (int i = 0; i < OBJECTS; i++) {
                    client.put(cache, ToolStore.bytes("key-" + i), ToolStore.bytes("value of " + i));
                }
            }
            whileItRan = ToolStore.run(new InspectCommand(), dir);
        }
        assertThat(errors.distinct()).isEmpty();
    }

    private ClusterSettings settings() {
        return ClusterSettings.of(with -> {
            with.cluster = "shop";
            with.name = "till";
            with.dir = dir;
            with.advertised = new HostAndPort("127.0.0.1", 1);
            with.clients = "127.0.0.1:1";
            with.shape = new ClusterShape(1, 1, 4, 64 << 10, 16 << 10, Durability.PROCESS);
            with.capacityBytes = 4 << 20;
            with.workers = 2;
            with.drainMs = 5000;
        });
    }

    @Test
    void shouldTellWhoseTheDirectoryIsAndWhatLiesInIt() throws IOException {
        final Map<String, String> before = ToolStore.image(dir);
        final ToolStore.Run run = ToolStore.run(new InspectCommand(), dir, "--verify");

        assertThat(run.exitCode()).as(run.out() + run.err()).isZero();
        assertThat(run.out())
                .contains("server directory " + dir, "server 'till' of cluster 'shop'", "server 0: area-0.rowan");
        assertThat(run.out()).contains("  closed, under boot id");
        assertThat(run.lastLine()).startsWith("inspect: servers=1 objects=" + OBJECTS + " entries=");
        assertThat(run.lastLine()).endsWith(" bad=0");
        assertThat(ToolStore.image(dir)).isEqualTo(before);

        final ToolStore.Run json = ToolStore.run(new InspectCommand(), dir, "--json");
        assertThat(json.out()).contains("\"name\":\"till\"", "\"cluster\":\"shop\"", "\"objects\":" + OBJECTS);
        final ToolStore.Run entries = ToolStore.run(new InspectCommand(), dir, "--entries", "--key", "key-7");
        assertThat(entries.out().lines()).singleElement().asString().contains("PUT", "key-7");
    }

    @Test
    void shouldRefuseTheDirectoryOfAServerThatRuns() {
        assertThat(whileItRan.exitCode()).isEqualTo(2);
        assertThat(whileItRan.err()).contains("server 'till' of cluster 'shop' runs", "in use");
        assertThat(whileItRan.out()).isEmpty();
    }

    @Test
    void shouldNameADamagedPlace() throws IOException {
        final String offset = ToolStore.run(new InspectCommand(), dir, "--entries", "--key", "key-7")
                .out()
                .replaceAll("(?s).* offset (\\d+) .*", "$1");
        ToolStore.flip(dir.resolve("area-0.rowan"), Long.parseLong(offset) + 40, 1);
        final ToolStore.Run run = ToolStore.run(new InspectCommand(), dir, "--verify");
        assertThat(run.exitCode()).isEqualTo(1);
        assertThat(run.out()).contains("bad: " + dir.resolve("area-0.rowan") + " at offset " + offset);
        assertThat(run.lastLine()).endsWith(" bad=1");
    }

    @Test
    void shouldSayWhatElseIsWrong() throws IOException {
        for (var command : List.of(new VerifyReplicasCommand(), new SnapshotCommand())) {
            final ToolStore.Run run = command instanceof SnapshotCommand
                    ? ToolStore.run(command, dir, root.resolve("copy"))
                    : ToolStore.run(command, dir);
            assertThat(run.exitCode()).isEqualTo(2);
            assertThat(run.err()).contains("one server of a cluster", "only inspect");
        }
        Files.delete(dir.resolve("area-0.rowan"));
        final ToolStore.Run without = ToolStore.run(new InspectCommand(), dir);
        assertThat(without.exitCode()).isZero();
        assertThat(without.out()).contains("no area yet");
        Files.writeString(dir.resolve("rowan.server"), "rowan-kv server\nformat=9\n");
        assertThat(ToolStore.run(new InspectCommand(), dir).err()).contains("format version 9");
        Files.writeString(dir.resolve("rowan.server"), "something else");
        assertThat(ToolStore.run(new InspectCommand(), dir).err()).contains("is damaged");
    }
}
