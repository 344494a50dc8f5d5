package org.rowankv.check.local;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.rowankv.daemon.local.LocalPorts;
import org.rowankv.rdma.Fabric;
import org.rowankv.rdma.channel.VerbsSettings;
import org.rowankv.rdma.channel.VerbsTransport;
import org.rowankv.rdma.landing.LandingFabric;
import org.rowankv.rdma.landing.LandingFabricSettings;
import org.rowankv.rdma.landing.wire.PeerAuthentication;
import org.rowankv.rdma.leased.LeasedFabric;
import org.rowankv.rdma.secret.ClusterSecret;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.SecureSeed;
import org.rowankv.runtime.SystemClock;
import org.rowankv.runtime.agent.ThreadScheduling;
import org.rowankv.server.checkpoint.CheckpointFiles;
import org.rowankv.server.cluster.ClientEndpoint;
import org.rowankv.server.cluster.ClusterContext;
import org.rowankv.server.cluster.ClusterServer;
import org.rowankv.server.cluster.ClusterSettings;
import org.rowankv.server.configstore.ConfigurationStore;
import org.rowankv.server.configstore.MemoryConfigurationStore;
import org.rowankv.server.directory.ServerDirectory;
import org.rowankv.server.directory.StoreDirectory;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.engine.Server;
import org.rowankv.server.frontend.ClientPort;
import org.rowankv.server.frontend.ClientPortSettings;
import org.rowankv.server.membership.ClusterShape;
import org.rowankv.server.membership.FabricKind;
import org.rowankv.server.membership.HostAndPort;
import org.rowankv.server.membership.ServerAddresses;
import org.rowankv.server.peer.ClusterCatalogue;
import org.rowankv.sim.verbs.RealTimeLinks;
import org.rowankv.sim.verbs.VerbsNetwork;
import org.rowankv.topology.Routing;

/**
 * Servers of a cluster in this JVM, each with threads, a directory, a client port and a simulated RDMA device of its own.
 * Shows that the whole product runs on that fabric; of a card's speed, and of its order of things, it shows nothing.
 *
 * <p>For one thread.
 */
public final class DeviceCluster implements AutoCloseable {
    private static final int SEGMENT = 256 << 10;
    private static final long CAPACITY = 96 << 20;
    private static final int WORKERS = 2;
    private static final int SHARDS_PER_SERVER = 4;
    /** No server is excluded, however long a busy machine lets it wait. */
    private static final long LEASE_MS = 10_000;

    private static final long PATIENCE_NS = 120_000_000_000L;
    private static final long LOOK_EVERY_NS = 10_000_000;
    private static final String HOST = "127.0.0.1";
    private static final ClusterSecret SECRET = ClusterSecret.of("the check", "the secret of checked clusters");

    private final Path dir;
    private final FabricKind kind;
    private final ClusterShape shape;
    private final int firstPort;
    private final ErrorLog errors = new ErrorLog(SystemClock.INSTANCE);
    private final ConfigurationStore store = new MemoryConfigurationStore();
    private final VerbsNetwork network;
    private final List<ClusterServer> servers = new ArrayList<>();
    private final List<Fabric> fabrics = new ArrayList<>();

    private DeviceCluster(FabricKind kind, int count) throws IOException {
        this.dir = Files.createTempDirectory("rowan-devices-");
        this.kind = kind;
        this.shape =
                new ClusterShape(count, count, SHARDS_PER_SERVER * count, SEGMENT, 16 << 10, Durability.PROCESS, kind);
        this.firstPort = LocalPorts.free(2 * count);
        this.network = new VerbsNetwork(
                new RealTimeLinks(SystemClock.INSTANCE, SecureSeed.source().fork("links")),
                SecureSeed.source().fork("network"),
                firstPort);
    }

    /**
     * Starts one, and waits until all its servers serve.
     *
     * @param kind RDMA_LANDED or RDMA_LEASED
     * @param servers of it, and replicas of each object
     * @throws IOException if it does not come to serve; says why
     */
    public static DeviceCluster start(FabricKind kind, int servers) throws IOException {
        final DeviceCluster cluster = new DeviceCluster(kind, servers);
        boolean serves = false;
        try {
            for (int number = 0; number < servers; number++) {
                cluster.startServer(number);
            }
            cluster.awaitServing();
            serves = true;
            return cluster;
        } finally {
            if (!serves) {
                cluster.close();
            }
        }
    }

    private void startServer(int number) {
        final ServerAddresses addresses = new ServerAddresses();
        final LandingFabricSettings settings = LandingFabricSettings.of(
                new InetSocketAddress(HOST, firstPort + number), addresses::addressOf, with -> {
                    with.keepsReserve = true;
                    with.maxMessage = shape.maxMessage();
                    with.authentication = PeerAuthentication.of(SECRET, SecureSeed::next);
                });
        final boolean isLeased = kind == FabricKind.RDMA_LEASED;
        final VerbsTransport transport = new VerbsTransport(
                network.device(number, () -> {}),
                isLeased ? VerbsSettings.usualOneSided() : VerbsSettings.usual(),
                SystemClock.INSTANCE);
        final Fabric fabric = isLeased ? new LeasedFabric(settings, transport) : new LandingFabric(settings, transport);
        fabrics.add(fabric);
        final ClusterSettings ofServer = settings(number);
        final ClusterServer server = new ClusterServer(
                ofServer,
                new ClusterContext(
                        store,
                        fabric,
                        addresses,
                        SystemClock.INSTANCE,
                        SecureSeed.source(),
                        ThreadScheduling.INSTANCE,
                        errors,
                        1,
                        new Port(clientPort(number)),
                        ServerDirectory::open,
                        id -> new CheckpointFiles(StoreDirectory.checkpointDir(ofServer.dir(), id)),
                        usual -> {}));
        servers.add(server);
        server.start();
    }

    private int clientPort(int number) {
        return firstPort + shape.servers() + number;
    }

    private ClusterSettings settings(int number) {
        return ClusterSettings.of(with -> {
            with.cluster = "devices";
            with.name = "server-" + number;
            with.dir = dir.resolve(with.name);
            with.advertised = new HostAndPort(HOST, firstPort + number);
            with.clients = HOST + ":" + clientPort(number);
            with.shape = shape;
            with.capacityBytes = CAPACITY;
            with.workers = WORKERS;
            with.leaseMs = LEASE_MS;
            with.secret = SECRET;
        });
    }

    private void awaitServing() throws IOException {
        final long startNs = SystemClock.INSTANCE.nanoTime();
        while (!servers.stream().allMatch(server -> server.server() != null)) {
            for (ClusterServer server : servers) {
                final RuntimeException failure = server.failure();
                if (failure != null) {
                    throw new IOException("a server of the cluster in " + dir + " failed", failure);
                }
            }
            if (SystemClock.INSTANCE.nanoTime() - startNs > PATIENCE_NS) {
                throw new IOException("the cluster in " + dir + " does not serve: "
                        + servers.stream().map(ClusterServer::saying).toList());
            }
            LockSupport.parkNanos(LOOK_EVERY_NS);
        }
    }

    public ClusterShape shape() {
        return shape;
    }

    /** {@code rowan://host:port,host:port/} */
    public String uri() {
        final List<String> addresses = new ArrayList<>();
        for (int number = 0; number < shape.servers(); number++) {
            addresses.add(HOST + ":" + clientPort(number));
        }
        return "rowan://" + String.join(",", addresses) + "/";
    }

    /** Errors that its agents have reported. */
    public List<ErrorLog.Observation> errors() {
        return errors.distinct();
    }

    /** Stops the servers, and removes their directories. */
    @Override
    public void close() throws IOException {
        final List<Thread> stopping = new ArrayList<>();
        for (ClusterServer server : servers) {
            // At the same time: none takes over the roles of another one.
            final Thread thread = new Thread(server::close, "rowan-stops-" + stopping.size());
            thread.start();
            stopping.add(thread);
        }
        boolean isInterrupted = false;
        for (Thread thread : stopping) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                isInterrupted = true;
            }
        }
        if (isInterrupted) {
            Thread.currentThread().interrupt();
        }
        fabrics.forEach(Fabric::close);
        try (Stream<Path> all = Files.walk(dir)) {
            for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        }
    }

    /** Of one server, from its first service until it stops. */
    private final class Port implements ClientEndpoint {
        private final int port;
        private @Nullable ClientPort open;

        Port(int port) {
            this.port = port;
        }

        @Override
        public Opened open(Server server, Routing routing, ClusterCatalogue catalogue) {
            final ClientPort present = open;
            if (present != null) {
                present.resume(server, catalogue, routing);
                return opened(present);
            }
            try {
                final ClientPort bound = ClientPort.bind(
                        server, catalogue, ClientPortSettings.at(HOST, port), SystemClock.INSTANCE, errors);
                open = bound;
                return opened(bound.serve(routing));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        private static Opened opened(ClientPort bound) {
            return new Opened() {
                @Override
                public void pause() {
                    bound.pause();
                }

                @Override
                public void route(Routing next) {
                    bound.publish(next);
                }

                @Override
                public void close() {
                    bound.close();
                }
            };
        }
    }
}
