package org.rowankv.server.cluster;

import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.api.Catalogue;
import org.rowankv.driver.api.ScanPage;
import org.rowankv.driver.api.Session;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.rdma.Fabric;
import org.rowankv.rdma.IoPoller;
import org.rowankv.rdma.landing.LandingFabric;
import org.rowankv.rdma.landing.LandingFabricSettings;
import org.rowankv.rdma.landing.wire.PeerAuthentication;
import org.rowankv.rdma.secret.ClusterSecret;
import org.rowankv.rdma.tcp.TcpTransport;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.SecureSeed;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.SystemClock;
import org.rowankv.runtime.agent.ThreadScheduling;
import org.rowankv.runtime.agent.ThreadingMode;
import org.rowankv.server.checkpoint.CheckpointFiles;
import org.rowankv.server.configstore.ConfigurationStore;
import org.rowankv.server.configstore.MemoryConfigurationStore;
import org.rowankv.server.directory.ServerDirectory;
import org.rowankv.server.directory.StoreDirectory;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.engine.Server;
import org.rowankv.server.engine.ServerSettings;
import org.rowankv.server.frontend.ClientPort;
import org.rowankv.server.frontend.ClientPortSettings;
import org.rowankv.server.membership.ClusterShape;
import org.rowankv.server.membership.FabricKind;
import org.rowankv.server.membership.HostAndPort;
import org.rowankv.server.membership.ServerAddresses;
import org.rowankv.server.peer.ClusterCatalogue;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.Routing;

/** The servers of a cluster in this JVM, each with its own TCP fabric and a proxy in front of it. */
public final class ClusterBed implements AutoCloseable {
    public static final int SEGMENT = 64 << 10;
    static final int WORKERS = 4;
    public static final ClusterSecret SECRET = ClusterSecret.of("the test", "a secret of the cluster in the test");

    private final Path dir;
    private ClusterShape shape;
    private @Nullable Function<LandingFabricSettings, Fabric> otherFabric;
    private final long capacity;
    private ThreadingMode threading = ThreadingMode.SHARED;
    private @Nullable ClusterSecret secret = SECRET;
    private Consumer<ServerSettings.Builder> firstRoles = usual -> {};
    private boolean hasPorts;
    private long leaseMs = 2_000;
    private long startWaitMs = ClusterSettings.DEFAULT_START_WAIT_MS;
    private int minReplicas = 1;
    private int scrubMibPerSecond;
    private long checkpointIntervalMs = ClusterSettings.DEFAULT_CHECKPOINT_INTERVAL_MS;
    private Clock clock = SystemClock.INSTANCE;
    public final ConfigurationStore store;
    public final List<Member> members = new ArrayList<>();

    /** One server, which may be stopped and restarted. */
    public final class Member {
        final String name;
        public final TcpProxy proxy;
        /** While its servers have ports. */
        private volatile @Nullable ClientPort port;
        /** In front of its port for clients. */
        final TcpProxy clients = new TcpProxy(() -> port.address());

        volatile ErrorLog errors = new ErrorLog(SystemClock.INSTANCE);
        volatile @Nullable Fabric fabric;
        private volatile @Nullable Supplier<InetSocketAddress> listensAt;
        /** The configuration store as it sees it. */
        private AwayStore seen = new AwayStore();

        public volatile @Nullable ClusterServer server;
        /** Of the newest roles. */
        volatile @Nullable ClusterCatalogue catalogue;
        /** The first configuration that it served in. */
        volatile @Nullable Configuration firstServed;
        /** I/O pollers of its clients; set before its start. */
        volatile List<IoPoller> ios = List.of();
        /** Runs when it has roles and is about to serve. */
        volatile Runnable beforeServing = () -> {};

        /** Of checkpoints, by all its starts. */
        final AtomicInteger imagesRead = new AtomicInteger();

        final AtomicInteger checkpointsPublished = new AtomicInteger();
        private int starts;

        Member(String name) {
            this.name = name;
            this.proxy = new TcpProxy(() -> listensAt.get());
        }

        /** Where it listens for servers, behind the proxy. */
        InetSocketAddress listenAddress() {
            return listensAt.get();
        }

        public ClusterServer start() {
            return start(settings(dir.resolve(name), name, shape, "", proxy.port(), with -> {
                with.clients = hasPorts ? "127.0.0.1:" + clients.port() : "";
                with.startWaitMs = startWaitMs;
                with.minReplicas = minReplicas;
                with.scrubMibPerSecond = scrubMibPerSecond;
                with.verifyReads = scrubMibPerSecond > 0;
                with.checkpointIntervalMs = checkpointIntervalMs;
            }));
        }

        public ClusterServer start(ClusterSettings settings) {
            final ServerAddresses addresses = new ServerAddresses();
            final Function<LandingFabricSettings, Fabric> other = otherFabric;
            // Without a proxy, a server listens where the others look for it.
            final LandingFabricSettings sizes = LandingFabricSettings.of(
                    new InetSocketAddress("127.0.0.1", other == null ? 0 : proxy.port()),
                    addresses::addressOf,
                    with -> {
                        with.keepsReserve = true;
                        with.authentication = PeerAuthentication.of(settings.secret(), SecureSeed::next);
                    });
            final Fabric opened;
            if (other == null) {
                final LandingFabric tcp = TcpTransport.open(sizes);
                listensAt = tcp::listenAddress;
                opened = tcp;
            } else {
                opened = other.apply(sizes);
            }
            fabric = opened;
            seen = new AwayStore(store);
            server = new ClusterServer(
                    settings,
                    new ClusterContext(
                            seen,
                            opened,
                            addresses,
                            clock,
                            new SplittableRandomSource((dir + name).hashCode() * 31L + ++starts),
                            ThreadScheduling.INSTANCE,
                            errors,
                            1,
                            new NotedCatalogue(),
                            ServerDirectory::open,
                            number -> new CountedCheckpoints(
                                    new CheckpointFiles(StoreDirectory.checkpointDir(settings.dir(), number)),
                                    imagesRead,
                                    checkpointsPublished),
                            with -> {
                                if (catalogue == null) {
                                    firstRoles.accept(with);
                                }
                            }));
            server.start();
            return server;
        }

        private final class NotedCatalogue implements ClientEndpoint {
            @Override
            public Opened open(Server serving, Routing routing, ClusterCatalogue ofRoles) {
                firstServed = firstServed == null ? routing.configuration() : firstServed;
                catalogue = ofRoles;
                return hasPorts ? openPort(serving, routing, ofRoles) : () -> {};
            }

            private Opened openPort(Server serving, Routing routing, ClusterCatalogue ofRoles) {
                final ClientPort present = port;
                if (present != null) {
                    present.resume(serving, ofRoles, routing);
                    return opened(present);
                }
                try {
                    final ClientPort bound = ClientPort.bind(
                            serving, ofRoles, ClientPortSettings.at("127.0.0.1", 0), SystemClock.INSTANCE, errors);
                    port = bound;
                    return opened(bound.serve(routing));
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }

            private Opened opened(ClientPort open) {
                return new Opened() {
                    @Override
                    public void pause() {
                        open.pause();
                    }

                    @Override
                    public void route(Routing next) {
                        open.publish(next);
                    }

                    @Override
                    public void close() {
                        open.close();
                        port = null;
                    }
                };
            }

            @Override
            public List<IoPoller> ios() {
                beforeServing.run();
                return ios;
            }
        }

        /** Ends it as a killed process does, as far as others can see. */
        void kill() {
            fabric.close();
            seen.away = true;
            final ClusterServer killed = server;
            server = null;
            killed.closeAtOnce();
        }

        public void stop() {
            if (server != null) {
                server.close();
                fabric.close();
                server = null;
            }
        }
    }

    public ClusterBed(Path dir, int servers, int replicas, long capacity) {
        this(dir, servers, replicas, capacity, new MemoryConfigurationStore());
    }

    public ClusterBed(Path dir, int servers, int replicas, long capacity, ConfigurationStore store) {
        this.dir = dir;
        this.capacity = capacity;
        this.store = store;
        this.shape = new ClusterShape(servers, replicas, 4 * servers, SEGMENT, 16 << 10, Durability.PROCESS);
        for (int i = 0; i < servers; i++) {
            members.add(new Member(Character.toString('a' + i)));
        }
    }

    ClusterBed with(ThreadingMode mode) {
        threading = mode;
        return this;
    }

    /** In place of TCP, and of the proxies. */
    ClusterBed withFabric(FabricKind kind, Function<LandingFabricSettings, Fabric> fabrics) {
        shape = new ClusterShape(
                shape.servers(),
                shape.replicas(),
                shape.shards(),
                shape.segmentBytes(),
                shape.maxMessage(),
                shape.durability(),
                kind);
        otherFabric = fabrics;
        return this;
    }

    /** The clock of its servers. */
    ClusterBed with(Clock ofServers) {
        clock = ofServers;
        return this;
    }

    /** Its servers accept every peer and every registration. */
    ClusterBed withoutSecret() {
        secret = null;
        return this;
    }

    /** Its servers accept clients at their ports, see {@link #addresses}. */
    ClusterBed withPorts() {
        hasPorts = true;
        return this;
    }

    /** For tests in which servers are excluded. In others none is, however long the machine lets it wait. */
    ClusterBed withUsualLease() {
        leaseMs = ClusterSettings.DEFAULT_LEASE_MS;
        return this;
    }

    ClusterBed withStartWait(long ms) {
        startWaitMs = ms;
        return this;
    }

    /** For tests in which a server is away and nothing goes on without it. */
    ClusterBed withLongLease() {
        leaseMs = 60_000;
        return this;
    }

    /** From the next starts on. */
    ClusterBed withCheckpoints(long intervalMs) {
        checkpointIntervalMs = intervalMs;
        return this;
    }

    /** Its servers verify what they read, and read all again at that rate. */
    ClusterBed withScrubbing(int mibPerSecond) {
        scrubMibPerSecond = mibPerSecond;
        return this;
    }

    ClusterBed withMinReplicas(int least) {
        minReplicas = least;
        return this;
    }

    /** Of the ports for clients. */
    List<String> addresses() {
        return members.stream()
                .map(member -> "127.0.0.1:" + member.clients.port())
                .toList();
    }

    /** The process values of each server until it has served for the first time. */
    ClusterBed withFirstRoles(Consumer<ServerSettings.Builder> tuning) {
        firstRoles = tuning;
        return this;
    }

    public ClusterShape shape() {
        return shape;
    }

    public ClusterSettings settings(String name, ClusterShape ofShape, String zone, int port) {
        return settings(dir.resolve(name), name, ofShape, zone, port);
    }

    public ClusterSettings settings(Path directory, String name, ClusterShape ofShape, String zone, int port) {
        return settings(directory, name, ofShape, zone, port, usual -> {});
    }

    ClusterSettings settings(
            Path directory,
            String name,
            ClusterShape ofShape,
            String zone,
            int port,
            Consumer<ClusterSettings.Builder> change) {
        return ClusterSettings.of(with -> {
            with.cluster = "test";
            with.name = name;
            with.dir = directory;
            with.advertised = new HostAndPort("127.0.0.1", port);
            with.zone = zone;
            with.shape = ofShape;
            with.capacityBytes = capacity;
            with.workers = WORKERS;
            with.drainMs = 2000;
            with.threading = threading;
            with.secret = secret;
            with.leaseMs = leaseMs;
            change.accept(with);
        });
    }

    public ClusterBed startAll() {
        members.forEach(Member::start);
        awaitServing();
        return this;
    }

    /** Waits until all of them serve, in the same term. */
    public void awaitServing() {
        await().pollInterval(Duration.ofMillis(10))
                .atMost(Duration.ofSeconds(60))
                .until(() -> {
                    long term = 0;
                    for (Member member : members) {
                        final ClusterServer server = member.server;
                        if (server == null) {
                            return false;
                        }
                        if (server.failure() != null) {
                            throw new AssertionError(server.failure());
                        }
                        final Configuration configuration = server.configuration();
                        if (server.server() == null || configuration == null) {
                            return false;
                        }
                        term = term == 0 ? configuration.term() : term;
                        if (term != configuration.term()) {
                            return false;
                        }
                    }
                    return true;
                });
    }

    Configuration configuration() {
        return members.get(0).server.configuration();
    }

    /** The first configuration that any of them served in. */
    Configuration firstServed() {
        return members.stream()
                .map(member -> member.firstServed)
                .min(Comparator.comparingLong(Configuration::term))
                .orElseThrow();
    }

    /** 0 while the first server has no roles. */
    long term() {
        final Configuration present = configuration();
        return present == null ? 0 : present.term();
    }

    @Nullable
    public Server server(int id) {
        for (Member member : members) {
            final ClusterServer server = member.server;
            if (server != null && server.serverId() == id) {
                return server.server();
            }
        }
        return null;
    }

    RowanClient client(long seed) {
        return client(seed, RowanClient.DEFAULT_DEADLINE_NS);
    }

    RowanClient client(long seed, long deadlineNs) {
        return new RowanClient(
                new Routed(configuration()), SystemClock.INSTANCE, new SplittableRandomSource(seed), deadlineNs);
    }

    /** At the same time, as a cluster is stopped as a whole: none takes over the roles of another one. */
    void stopAll() {
        final List<Thread> stopping = new ArrayList<>();
        for (Member member : members) {
            final Thread thread = new Thread(member::stop, "stop-" + stopping.size());
            thread.start();
            stopping.add(thread);
        }
        try {
            for (Thread thread : stopping) {
                thread.join();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        stopAll();
        members.forEach(member -> {
            member.proxy.close();
            member.clients.close();
        });
    }

    /** Forwards requests to the primary, and waits while there is none. */
    private final class Routed implements Session {
        private final Configuration first;

        Routed(Configuration first) {
            this.first = first;
        }

        @Override
        public Configuration configuration() {
            return first;
        }

        @Override
        public boolean needsRequestIds() {
            return true;
        }

        @Override
        public void call(Request request) {
            while (true) {
                final Server primary = primaryOf(request.shard());
                if (primary != null) {
                    try {
                        primary.requests().call(request);
                    } catch (IllegalStateException e) {
                        // The server lost its roles meanwhile: the outcome is unknown.
                        request.noResult();
                        request.answer(Status.NO_REPLY, 0, 0, 0);
                    }
                    if (request.status() != Status.CLOSED && request.status() != Status.NOT_PRIMARY) {
                        return;
                    }
                }
                LockSupport.parkNanos(1_000_000);
            }
        }

        private @Nullable Server primaryOf(int shard) {
            for (Member member : members) {
                final ClusterServer one = member.server;
                final Configuration configuration = one == null ? null : one.configuration();
                if (configuration != null && configuration.shard(shard).primary() == one.serverId()) {
                    return one.server();
                }
            }
            return null;
        }

        @Override
        public ScanPage scan(int cacheId, int shard, long position, int limit, boolean withValues) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Catalogue catalogue() {
            throw new UnsupportedOperationException();
        }

        @Override
        public void close() {}
    }
}
