package org.rowankv.daemon;

import java.net.InetSocketAddress;
import java.util.Locale;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.rowankv.daemon.admin.AdminPort;
import org.rowankv.daemon.admin.ServerMetricsReader;
import org.rowankv.daemon.zookeeper.ZooKeeperConfigurationStore;
import org.rowankv.rdma.AckLevel;
import org.rowankv.rdma.Fabric;
import org.rowankv.rdma.channel.VerbsTransport;
import org.rowankv.rdma.landing.FabricTransport;
import org.rowankv.rdma.landing.LandingFabric;
import org.rowankv.rdma.landing.LandingFabricSettings;
import org.rowankv.rdma.landing.wire.PeerAuthentication;
import org.rowankv.rdma.leased.LeasedFabric;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.SecureSeed;
import org.rowankv.runtime.SystemClock;
import org.rowankv.runtime.agent.ThreadScheduling;
import org.rowankv.server.checkpoint.CheckpointFiles;
import org.rowankv.server.cluster.ClientEndpoint;
import org.rowankv.server.cluster.ClusterContext;
import org.rowankv.server.cluster.ClusterServer;
import org.rowankv.server.cluster.ClusterSettings;
import org.rowankv.server.cluster.StartPhase;
import org.rowankv.server.directory.ServerDirectory;
import org.rowankv.server.directory.StoreDirectory;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.engine.Server;
import org.rowankv.server.engine.ServerStatistics;
import org.rowankv.server.frontend.PortCounters;
import org.rowankv.server.membership.FabricKind;
import org.rowankv.server.membership.ServerAddresses;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.FormerReplica;

/** The components of a server process: the fabric, the configuration store, the server, and the admin port. */
final class ServerProcess implements AutoCloseable {
    /** Answers to "replicas" while it has no data, and while it reads them. */
    static final String NO_AREA = "none\n";

    static final String READING = "reading\n";

    private final ZooKeeperConfigurationStore store;
    private final Fabric fabric;
    /** Of the fabric: what carries connections and messages. */
    private final LandingFabric connections;

    private final AdminPort admin;
    private final ClusterServer server;
    private final ClusterSettings settings;
    private final PortCounters clients;
    private final ErrorLog errors;
    private final ClientEndpoint clientEndpoint;

    /**
     * Opens the ports, and starts the server's join of its cluster.
     *
     * @param store of the cluster; closed with this, also if the constructor fails
     * @param transport what carries entries and messages between servers
     * @param peers listen address for other servers
     * @param adminAddress listen address of the admin port
     * @param clients counters of the client port
     * @throws java.io.UncheckedIOException if an address cannot be bound
     */
    ServerProcess(
            ClusterSettings settings,
            ZooKeeperConfigurationStore store,
            FabricTransport transport,
            InetSocketAddress peers,
            InetSocketAddress adminAddress,
            ClientEndpoint clientEndpoint,
            PortCounters clients,
            ErrorLog errors) {
        this.settings = settings;
        this.store = store;
        this.clients = clients;
        this.errors = errors;
        this.clientEndpoint = clientEndpoint;
        final ServerAddresses addresses = new ServerAddresses();
        final boolean power = settings.shape().durability() == Durability.POWER;
        try {
            final LandingFabricSettings sizes = LandingFabricSettings.of(peers, addresses::addressOf, with -> {
                with.keepsReserve = true;
                with.maxMessage = settings.shape().maxMessage();
                with.ackLevel = power ? AckLevel.FORCED : AckLevel.LANDED;
                with.authentication = PeerAuthentication.of(settings.secret(), SecureSeed::next);
            });
            if (settings.shape().fabric() == FabricKind.RDMA_LEASED) {
                final LeasedFabric leased = new LeasedFabric(sizes, (VerbsTransport) transport);
                this.fabric = leased;
                this.connections = leased.connections();
            } else {
                this.connections = new LandingFabric(sizes, transport);
                this.fabric = connections;
            }
        } catch (RuntimeException e) {
            store.close();
            throw e;
        }
        try {
            this.admin = new AdminPort(adminAddress, this::answer, SystemClock.INSTANCE);
        } catch (RuntimeException e) {
            fabric.close();
            store.close();
            throw e;
        }
        final int processors = Runtime.getRuntime().availableProcessors();
        this.server = new ClusterServer(
                settings,
                new ClusterContext(
                        store,
                        fabric,
                        addresses,
                        SystemClock.INSTANCE,
                        SecureSeed.source(),
                        ThreadScheduling.INSTANCE,
                        errors,
                        Math.max(1, processors / 2),
                        clientEndpoint,
                        ServerDirectory::open,
                        number -> new CheckpointFiles(StoreDirectory.checkpointDir(settings.dir(), number)),
                        usual -> {}));
        server.start();
    }

    ClusterServer server() {
        return server;
    }

    private String answer(String line) {
        return switch (line) {
            case "health" -> health() + fabricLine();
            case "ready" -> ready() + "\n";
            case "live" -> live();
            case "status" -> status();
            case "metrics" -> metrics();
            case "replicas" -> replicas();
            default -> "unknown request: use health, ready, live, status, metrics or replicas\n";
        };
    }

    private String health() {
        final ClusterServer own = server;
        if (own == null) {
            return "starting\n"; // requested during construction
        }
        final String saying = own.saying();
        return own.phase().name().toLowerCase(Locale.ROOT) + (saying.isEmpty() ? "" : ": " + saying) + "\n";
    }

    /** What carries entries, and where acknowledged ones are. */
    private String fabricLine() {
        return "fabric " + settings.shape().fabric().text() + ", acknowledges at "
                + fabric.capabilities().ackLevel() + "\n";
    }

    private String ready() {
        final ClusterServer own = server;
        return own == null
                ? "not ready: starting"
                : Readiness.of(own, settings.shape().replicas());
    }

    private String live() {
        return Readiness.isLive(server) ? "live\n" : "not live: " + health();
    }

    /** Those that do not count: former ones, and copies under way. */
    private String replicas() {
        final ClusterServer own = server;
        if (own == null || own.phase() == StartPhase.JOINING) {
            return NO_AREA;
        }
        return own.phase() == StartPhase.RECOVERING ? READING : FormerReplica.text(own.formerReplicas());
    }

    private String metrics() {
        final ClusterServer own = server;
        return own == null
                ? "not ready: starting\n"
                : new ServerMetricsReader(settings.name(), own, connections, clients, errors).text();
    }

    /** Lines {@code name=value}. */
    private String status() {
        final StringBuilder text = new StringBuilder();
        text.append("name=").append(settings.name()).append('\n');
        final ClusterServer own = server;
        text.append("pid=").append(ProcessHandle.current().pid()).append('\n');
        text.append("health=").append(health());
        text.append("ready=").append(ready()).append('\n');
        text.append("fabric=").append(settings.shape().fabric().parameter()).append('\n');
        text.append("acknowledges=")
                .append(fabric.capabilities().ackLevel().name().toLowerCase(Locale.ROOT))
                .append('\n');
        text.append("threading=")
                .append(settings.threading().name().toLowerCase(Locale.ROOT))
                .append('\n');
        if (own == null) {
            return text.toString();
        }
        final Configuration configuration = own.configuration();
        text.append("min-replicas=").append(settings.minReplicas()).append('\n');
        text.append("server=").append(own.serverId()).append('\n');
        text.append("term=")
                .append(configuration == null ? 0 : configuration.term())
                .append('\n');
        new TreeMap<>(clientEndpoint.counts())
                .forEach((name, count) ->
                        text.append(name).append('=').append(count).append('\n'));
        final @Nullable Server serving = own.server();
        if (serving != null) {
            final ServerStatistics statistics = serving.statistics();
            text.append("objects=").append(statistics.indexEntries()).append('\n');
            text.append("space-limit=").append(statistics.spaceLimit()).append('\n');
            text.append("space-available=").append(statistics.spaceAvailable()).append('\n');
            text.append("reconnects=").append(statistics.reconnects()).append('\n');
        }
        return text.toString();
    }

    /** Whether it ended because it could not continue. */
    boolean hasFailed() {
        return server.phase() == StartPhase.FAILED;
    }

    /** Whether it ended because an agent was stopped or a device failed at run time. */
    boolean hasStoppedItself() {
        return hasFailed() && server.hasStoppedItself();
    }

    /** Drains, and stops. */
    @Override
    public void close() {
        server.close();
        admin.close();
        fabric.close();
        store.close();
    }
}
