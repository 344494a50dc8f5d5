package org.rowankv.daemon;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.curator.test.TestingServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.daemon.local.LocalPorts;
import org.rowankv.daemon.zookeeper.ZooKeeperConfigurationStore;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.api.ChangeListener;
import org.rowankv.driver.api.ChangeSubscription;
import org.rowankv.driver.net.NetSession;
import org.rowankv.driver.net.NetSettings;
import org.rowankv.protocol.Change;
import org.rowankv.rdma.tcp.TcpTransport;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.SystemClock;
import org.rowankv.runtime.agent.ThreadScheduling;
import org.rowankv.server.cluster.ClusterSettings;
import org.rowankv.server.cluster.StartPhase;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.frontend.ClientPortSettings;
import org.rowankv.server.frontend.PortCounters;
import org.rowankv.server.membership.ClusterShape;
import org.rowankv.server.membership.HostAndPort;
import org.rowankv.server.membership.PrimaryTransfer;
import org.rowankv.topology.Configuration;

/**
 * Coordinated restarts: a subscriber receives a loss report only where another process has become the shard's primary.
 */
class ChangesAcrossStartsTest {
    private static final int SERVERS = 2;
    private static final int SHARDS = 6;
    private static final int PORTS_PER_SERVER = 3;
    private static final int KEYS = 60;
    private static final long PATIENCE_NS = 60_000_000_000L;
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @TempDir
    Path dir;

    private TestingServer zooKeeper;
    private int firstPort;
    private final List<ServerProcess> nodes = new ArrayList<>();

    /** By shard: the received and the lost changes. */
    private static final class Heard implements ChangeListener {
        private final Map<Integer, TreeMap<Long, String>> changes = new HashMap<>();
        private final Set<Integer> lost = new TreeSet<>();
        private int count;

        @Override
        public synchronized void onChange(int shard, Change change) {
            changes.computeIfAbsent(shard, unused -> new TreeMap<>())
                    .put(change.version(), new String(change.value(), StandardCharsets.UTF_8));
            count++;
        }

        @Override
        public synchronized void onEventsLost(int shard, long after, long upTo) {
            lost.add(shard);
        }

        synchronized int count() {
            return count;
        }

        synchronized Set<Integer> lost() {
            return Set.copyOf(lost);
        }

        synchronized long distinct() {
            return changes.values().stream().mapToLong(Map::size).sum();
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private int portOf(int server) {
        return firstPort + server * PORTS_PER_SERVER;
    }

    private ServerProcess start(int server) {
        final HostAndPort clients = new HostAndPort("127.0.0.1", portOf(server));
        final HostAndPort peers = new HostAndPort("127.0.0.1", portOf(server) + 1);
        final HostAndPort admin = new HostAndPort("127.0.0.1", portOf(server) + 2);
        final ClusterSettings settings = ClusterSettings.of(with -> {
            with.cluster = "changes";
            with.name = "s" + server;
            with.dir = dir.resolve("s" + server);
            with.advertised = peers;
            with.clients = clients.toString();
            with.admin = admin.toString();
            with.shape = new ClusterShape(SERVERS, 2, SHARDS, 64 << 10, 16 << 10, Durability.PROCESS);
            with.capacityBytes = 8 << 20;
            with.workers = 4;
            with.drainMs = 5000;
            with.leaseMs = 4_000; // servers end in order: none is excluded, even on a busy machine
        });
        final PortCounters counts = new PortCounters(SystemClock.INSTANCE);
        final ErrorLog errors = new ErrorLog(SystemClock.INSTANCE);
        return new ServerProcess(
                settings,
                new ZooKeeperConfigurationStore(zooKeeper.getConnectString(), settings.cluster(), 3000),
                TcpTransport.choose(true),
                peers.resolve(),
                admin.resolve(),
                new PortEndpoint(
                        ClientPortSettings.at(clients.host(), clients.port()), SystemClock.INSTANCE, errors, counts),
                counts,
                errors);
    }

    @BeforeEach
    void startAll() throws Exception {
        zooKeeper = new TestingServer(true);
        firstPort = LocalPorts.free(SERVERS * PORTS_PER_SERVER);
        for (int server = 0; server < SERVERS; server++) {
            nodes.add(start(server));
        }
        awaitServing(0);
    }

    @AfterEach
    void stopAll() throws Exception {
        nodes.forEach(ServerProcess::close);
        zooKeeper.close();
    }

    /** Waits until all serve, in one higher term. */
    private Configuration awaitServing(long than) {
        await().atMost(PATIENCE)
                .until(() -> nodes.stream().allMatch(node -> {
                    final Configuration own = node.server().configuration();
                    return node.server().phase() == StartPhase.SERVING
                            && own != null
                            && own.term() > than
                            && own.term()
                                    == nodes.get(0).server().configuration().term();
                }));
        return nodes.get(0).server().configuration();
    }

    private static void write(RowanClient client, int cache, String value) {
        for (int key = 0; key < KEYS; key++) {
            client.put(cache, bytes("key" + key), bytes(value));
        }
    }

    private static void awaitCount(Heard heard, int count) {
        await().atMost(PATIENCE).until(() -> heard.count() >= count);
    }

    @Test
    void shouldKeepTheirPlacesWhenShardsAreHandedOver() throws Exception {
        final List<String> addresses = List.of("127.0.0.1:" + portOf(0), "127.0.0.1:" + portOf(1));
        try (NetSession session = NetSession.connect(
                        addresses, NetSettings.DEFAULT.withTimes(PATIENCE_NS, 10 * PATIENCE_NS), SystemClock.INSTANCE);
                RowanClient client =
                        new RowanClient(session, SystemClock.INSTANCE, new SplittableRandomSource(1), PATIENCE_NS);
                ZooKeeperConfigurationStore store =
                        new ZooKeeperConfigurationStore(zooKeeper.getConnectString(), "changes", 10_000)) {
            final int cache = client.catalogue().create("cache", new byte[] {1}).id();
            final Heard heard = new Heard();
            try (ChangeSubscription subscription = client.subscribe(cache, false, null, heard)) {
                write(client, cache, "first");
                awaitCount(heard, KEYS);
                assertThat(heard.lost()).isEmpty();

                final long swapped = new PrimaryTransfer(
                                store,
                                "test",
                                new SplittableRandomSource(5),
                                SystemClock.INSTANCE,
                                ThreadScheduling.INSTANCE::park)
                        .transfer(0, -1)
                        .term();
                final Configuration second = awaitServing(swapped - 1);
                write(client, cache, "second");
                awaitCount(heard, 2 * KEYS);
                assertThat(heard.lost()).isEmpty();

                // The other one stops, and gives what it has to this one before; it comes back as a new process.
                nodes.get(1).close();
                nodes.set(1, start(1));
                final Configuration third = awaitServing(second.term());
                assertThat(third.primariesOf(0)).hasSize(SHARDS);
                write(client, cache, "third");
                awaitCount(heard, 3 * KEYS);
                assertThat(heard.lost()).isEmpty();
                assertThat(heard.distinct()).isEqualTo(3 * KEYS);
                assertThat(subscription.position()).isNotNull();
            }
        }
    }
}
