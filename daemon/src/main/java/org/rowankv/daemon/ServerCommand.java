package org.rowankv.daemon;

import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.rowankv.daemon.options.OptionDefaults;
import org.rowankv.daemon.options.SecretFiles;
import org.rowankv.daemon.zookeeper.ZooKeeperAuth;
import org.rowankv.daemon.zookeeper.ZooKeeperConfigurationStore;
import org.rowankv.rdma.channel.VerbsSettings;
import org.rowankv.rdma.channel.VerbsTransport;
import org.rowankv.rdma.disni.DisniLibrary;
import org.rowankv.rdma.landing.FabricTransport;
import org.rowankv.rdma.secret.ClusterSecret;
import org.rowankv.rdma.tcp.TcpTransport;
import org.rowankv.rdma.verbs.VerbsException;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.SystemClock;
import org.rowankv.runtime.agent.ThreadingMode;
import org.rowankv.server.cluster.ClusterSettings;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.frontend.ClientPortSettings;
import org.rowankv.server.frontend.PortCounters;
import org.rowankv.server.membership.ClusterShape;
import org.rowankv.server.membership.FabricKind;
import org.rowankv.server.membership.HostAndPort;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code rowan server}: one server of a cluster, until it is stopped. */
@Command(
        name = "server",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        modelTransformer = ServerOption.All.class,
        description = {
            "Runs one server of a cluster until SIGTERM or SIGINT; then others take its roles over, it drains pending"
                    + " operations, and stops.",
            "Every option --some-name may also be set in the environment as ROWAN_SOME_NAME, or in the options file as"
                    + " some-name=value; the command line overrides the environment, the environment overrides the file.",
            "Exit codes: 143 after SIGTERM, 130 after SIGINT; 1 when it cannot run; 2 for a usage error; 4 when it stopped"
                    + " itself: a broken invariant, lack of memory in one of its agents, or a failed device. The log states the"
                    + " cause."
        })
public final class ServerCommand implements Callable<Integer> {
    private static final int EXIT_FAILED = 1;
    /** Not 3, which {@code rowan} uses for a failed build. */
    public static final int EXIT_STOPPED_ITSELF = 4;

    /** Netty's own property; a value on the command line of the JVM is kept. */
    private static final String LEAK_DETECTION = "io.netty.leakDetection.level";

    private static final String FORMER_LEAK_DETECTION = "io.netty.leakDetectionLevel";

    /** Properties that {@code logback.xml} reads. */
    private static final String LOG_FORMAT = "rowan.log.format";

    private static final String LOG_LEVEL = "rowan.log.level";

    private static final int MOST_WORKERS = 1024;
    private static final int CONNECT_TIMEOUT_MS = 3000;
    private static final int LEAST_SESSION_LEASE = 20;

    /** Created at first use: after {@link #chooseLogFormat}. */
    private static final class Log {
        static final Logger LOG = LoggerFactory.getLogger(ServerCommand.class);
    }

    @Spec
    private CommandSpec spec;

    public static void main(String[] arguments) {
        ParentWatch.beginIfAsked();
        System.exit(Commands.execute(new ServerCommand(), arguments));
    }

    @Override
    public Integer call() {
        final ServerProcess process;
        try {
            requireKnownOptions();
            chooseLogFormat();
            leaveBuffersUnsampled();
            process = open();
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()));
        } catch (UncheckedIOException e) {
            Log.LOG.error(
                    "ROWAN-4006 server {} cannot run: {}",
                    text(ServerOption.NAME),
                    e.getCause() == null ? e : e.getCause().getMessage());
            return EXIT_FAILED;
        }
        final Thread hook = new Thread(
                () -> {
                    Log.LOG.info("server {} stopping", text(ServerOption.NAME));
                    process.close();
                    Log.LOG.info("server {} stopped", text(ServerOption.NAME));
                },
                "rowan-stop");
        Runtime.getRuntime().addShutdownHook(hook);
        process.server().awaitEnd();
        if (process.hasStoppedItself()) {
            return EXIT_STOPPED_ITSELF;
        }
        return process.hasFailed() ? EXIT_FAILED : CommandLine.ExitCode.OK;
    }

    /**
     * Netty's default, a stack trace for one in 128 buffers, costs a good part of the NIC agent's time. Call before
     * Netty is used.
     */
    private static void leaveBuffersUnsampled() {
        if (System.getProperty(LEAK_DETECTION) == null && System.getProperty(FORMER_LEAK_DETECTION) == null) {
            System.setProperty(LEAK_DETECTION, "disabled");
        }
    }

    /**
     * Call before the first logger is created: the logging reads these properties once. Values from the JVM's command
     * line are kept.
     */
    private void chooseLogFormat() {
        final boolean verbose = ServerOption.VERBOSE.isSet(spec);
        final String format = text(ServerOption.LOG_FORMAT);
        setIfAbsent(LOG_FORMAT, verbose && "line".equals(format) ? "verbose" : format);
        setIfAbsent(LOG_LEVEL, verbose ? "debug" : "info");
    }

    private static void setIfAbsent(String property, String value) {
        if (System.getProperty(property) == null) {
            System.setProperty(property, value);
        }
    }

    private void requireKnownOptions() {
        if (spec.defaultValueProvider() instanceof OptionDefaults defaults) {
            final var unknown = defaults.unknown(spec);
            if (!unknown.isEmpty()) {
                throw new IllegalArgumentException(
                        "the options file has unknown options: " + String.join(", ", unknown));
            }
        }
    }

    private String text(ServerOption option) {
        return option.text(spec);
    }

    private int number(ServerOption option) {
        return (int) Math.min(Integer.MAX_VALUE, option.number(spec));
    }

    private @Nullable Path path(ServerOption option) {
        return option.isGiven(spec) ? Path.of(text(option)) : null;
    }

    private HostAndPort address(ServerOption option, Supplier<HostAndPort> otherwise) {
        return option.isGiven(spec) ? HostAndPort.parse(text(option)) : otherwise.get();
    }

    private ServerProcess open() {
        final HostAndPort clients = HostAndPort.parse(text(ServerOption.LISTEN));
        final HostAndPort advertised =
                address(ServerOption.ADVERTISE, () -> clients).requireReachable();
        final boolean rdma = isRdma();
        final HostAndPort peers = rdma
                ? HostAndPort.parse(text(ServerOption.RDMA_LISTEN))
                : address(ServerOption.PEER_LISTEN, () -> new HostAndPort(clients.host(), clients.port() + 1));
        final HostAndPort peersAdvertised = address(
                        ServerOption.PEER_ADVERTISE,
                        () -> rdma ? peers : new HostAndPort(advertised.host(), peers.port()))
                .requireReachable();
        final HostAndPort admin =
                address(ServerOption.ADMIN_LISTEN, () -> new HostAndPort("127.0.0.1", clients.port() + 2));
        final InetSocketAddress peerAddress = peers.resolve();
        final ClusterSecret secret = secretFor(peerAddress);
        final int workers = number(ServerOption.WORKERS);
        if (workers > MOST_WORKERS) {
            throw ServerOption.WORKERS.refusal(workers);
        }
        final long memory = ServerOption.CLIENT_MEMORY.number(spec);
        final ClientPortSettings port = ClientPortSettings.at(clients.host(), clients.port(), with -> {
            with.loops = workers == 0 ? with.loops : workers;
            with.maxHeldBytes = memory == 0 ? with.maxHeldBytes : memory;
        });
        final ClusterSettings settings = ClusterSettings.of(with -> {
            with.cluster = text(ServerOption.CLUSTER);
            with.name = text(ServerOption.NAME);
            with.dir = path(ServerOption.DATA);
            with.advertised = peersAdvertised;
            with.clients = advertised.toString();
            with.admin = admin.toString();
            with.zone = text(ServerOption.ZONE);
            with.shape = shape();
            with.capacityBytes = ServerOption.CAPACITY.number(spec);
            with.workers = port.loops();
            with.verifyReads = ServerOption.VERIFY_READS.isSet(spec);
            with.scrubMibPerSecond = number(ServerOption.SCRUB_RATE);
            with.drainMs = number(ServerOption.DRAIN);
            with.acceptUnclean = ServerOption.ACCEPT_UNCLEAN.isSet(spec);
            with.acceptCopied = ServerOption.ACCEPT_COPIED.isSet(spec);
            with.sessionLeaseMs = sessionLeaseMs();
            with.checkpointIntervalMs = number(ServerOption.CHECKPOINT_INTERVAL) * 1000L;
            with.leaseMs = number(ServerOption.LEASE);
            with.startWaitMs = number(ServerOption.START_WAIT);
            with.minReplicas = number(ServerOption.MIN_REPLICAS);
            with.threading = threadingMode();
            with.secret = secret;
        });
        final String zooKeeper = text(ServerOption.ZOOKEEPER);
        final ZooKeeperAuth auth = ZooKeeperAuth.read(path(ServerOption.ZOOKEEPER_AUTH_FILE));
        if (auth == null && !ZooKeeperConfigurationStore.isOnThisMachine(zooKeeper)) {
            Log.LOG.warn(
                    "ROWAN-4007 No ZooKeeper credential: any client of ZooKeeper at {} can change this cluster's"
                            + " configuration; set --zookeeper-auth-file",
                    zooKeeper);
        }
        final PortCounters counts = new PortCounters(SystemClock.INSTANCE);
        final ErrorLog errors = new ErrorLog(SystemClock.INSTANCE);
        final FabricTransport transport = rdma ? rdmaTransport(settings.shape().fabric()) : TcpTransport.choose(true);
        return new ServerProcess(
                settings,
                new ZooKeeperConfigurationStore(zooKeeper, settings.cluster(), CONNECT_TIMEOUT_MS, auth),
                transport,
                peerAddress,
                admin.resolve(),
                new PortEndpoint(port, SystemClock.INSTANCE, errors, counts),
                counts,
                errors);
    }

    private boolean isRdma() {
        final boolean rdma = "rdma".equals(text(ServerOption.FABRIC));
        if (rdma && !ServerOption.RDMA_LISTEN.isGiven(spec)) {
            throw new IllegalArgumentException(
                    "--fabric rdma needs --rdma-listen with the address of this machine's RDMA"
                            + " interface (\"rdma link\" and \"ip address\" show it)");
        }
        if (rdma && ServerOption.PEER_LISTEN.isGiven(spec)) {
            throw new IllegalArgumentException(
                    "--peer-listen is for --fabric tcp: with --fabric rdma, servers listen at --rdma-listen");
        }
        if (!rdma && ServerOption.RDMA_LISTEN.isGiven(spec)) {
            throw new IllegalArgumentException("--rdma-listen needs --fabric rdma");
        }
        if (!rdma && ServerOption.RDMA_MODE.isChosen(spec)) {
            throw new IllegalArgumentException("--rdma-mode needs --fabric rdma");
        }
        return rdma;
    }

    private FabricKind fabricKind() {
        if (!isRdma()) {
            return FabricKind.TCP;
        }
        return "leased".equals(text(ServerOption.RDMA_MODE)) ? FabricKind.RDMA_LEASED : FabricKind.RDMA_LANDED;
    }

    private static FabricTransport rdmaTransport(FabricKind kind) {
        final VerbsSettings sizes =
                kind == FabricKind.RDMA_LEASED ? VerbsSettings.usualOneSided() : VerbsSettings.usual();
        try {
            return new VerbsTransport(DisniLibrary.open(), sizes, SystemClock.INSTANCE);
        } catch (VerbsException e) {
            throw new UncheckedIOException(e);
        }
    }

    private @Nullable ClusterSecret secretFor(InetSocketAddress peers) {
        final String text =
                spec.defaultValueProvider() instanceof OptionDefaults defaults ? defaults.clusterSecret() : null;
        final ClusterSecret secret = SecretFiles.clusterSecret(path(ServerOption.CLUSTER_SECRET_FILE), text);
        final boolean onThisMachine =
                peers.getAddress() != null && peers.getAddress().isLoopbackAddress();
        if (secret != null || onThisMachine) {
            return secret;
        }
        if (!ServerOption.INSECURE.isSet(spec)) {
            throw new IllegalArgumentException("other machines can reach the peer port " + peers
                    + ", and the cluster has no secret: give every server the same"
                    + " --cluster-secret-file (\"openssl rand -hex 16\" makes one), or --insecure if only servers reach that"
                    + " network");
        }
        Log.LOG.warn(
                "ROWAN-4008 No cluster secret: anything that reaches {} can act as a server of this cluster", peers);
        return null;
    }

    private ClusterShape shape() {
        final int servers = number(ServerOption.EXPECT);
        final int replicas = number(ServerOption.REPLICAS);
        final int shards = number(ServerOption.SHARDS);
        return new ClusterShape(
                servers,
                replicas == 0 ? Math.min(2, servers) : replicas,
                shards == 0 ? ClusterSettings.DEFAULT_SHARDS_PER_SERVER * servers : shards,
                number(ServerOption.SEGMENT),
                number(ServerOption.MAX_MESSAGE),
                Durability.valueOf(text(ServerOption.DURABILITY).toUpperCase(Locale.ROOT)),
                fabricKind());
    }

    /** More than clients' default timeout of ten seconds, within which a request is retried. */
    private long sessionLeaseMs() {
        final int seconds = number(ServerOption.SESSION_LEASE);
        if (seconds != 0 && seconds < LEAST_SESSION_LEASE) {
            throw ServerOption.SESSION_LEASE.refusal(seconds);
        }
        return seconds * 1000L;
    }

    private ThreadingMode threadingMode() {
        final String mode = text(ServerOption.THREADING);
        return "auto".equals(mode)
                ? ThreadingMode.forProcessors(Runtime.getRuntime().availableProcessors())
                : ThreadingMode.valueOf(mode.toUpperCase(Locale.ROOT));
    }
}
