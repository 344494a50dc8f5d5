package org.rowankv.daemon;

import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.rowankv.daemon.zookeeper.SecretFiles;
import org.rowankv.daemon.zookeeper.ZooKeeperAuth;
import org.rowankv.daemon.zookeeper.ZooKeeperConfigurationStore;
import org.rowankv.daemon.zookeeper.ZooKeeperNodeDefaults;
import org.rowankv.rdma.secret.ClusterSecret;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.SystemClock;
import org.rowankv.runtime.agent.ThreadingMode;
import org.rowankv.server.cluster.ClusterSettings;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.frontend.ClientPortSettings;
import org.rowankv.server.frontend.PortCounters;
import org.rowankv.server.membership.ClusterShape;
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
            "Runs one server of a cluster until SIGTERM or SIGINT; then it lets operations under way end, and stops.",
            "Every option --some-name may also stand in the environment as ROWAN_SOME_NAME, or in the options file as"
                    + " some-name=value; the command line goes before the environment, the environment before the file.",
            "Exit codes: 143 after SIGTERM, 130 after SIGINT; 1 when it cannot run, and says why; 2 when it was called wrongly;"
                    + " 4 when it stopped itself while it ran, and says why: a broken invariant, lack of memory in one of its"
                    + " agents, or a device that failed."
        })
public final class ServerCommand implements Callable<Integer> {
    private static final int EXIT_FAILED = 1;
    /** Not 3, with which {@code rowan} says that it cannot build. */
    public static final int EXIT_STOPPED_ITSELF = 4;

    /** Netty's own property; given on the command line of the JVM, it stays as it is. */
    private static final String LEAK_DETECTION = "io.netty.leakDetection.level";

    private static final String FORMER_LEAK_DETECTION = "io.netty.leakDetectionLevel";

    /** Properties that {@code logback.xml} reads. */
    private static final String LOG_FORMAT = "rowan.log.format";

    private static final String LOG_LEVEL = "rowan.log.level";

    private static final int MOST_WORKERS = 1024;
    private static final int CONNECT_PATIENCE_MS = 3000;
    private static final int LEAST_SESSION_LEASE = 20;

    /** Made when first used: after {@link #chooseLogFormat}. */
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
                    "server {} cannot run: {}",
                    text(ServerOption.NAME),
                    e.getCause() == null ? e : e.getCause().getMessage());
            return EXIT_FAILED;
        }
        final Thread hook = new Thread(
                () -> {
                    Log.LOG.info("server {} stops", text(ServerOption.NAME));
                    process.close();
                    Log.LOG.info("server {} has stopped", text(ServerOption.NAME));
                },
                "rowan-stop");
        Runtime.getRuntime().addShutdownHook(hook);
        process.server().awaitEnd();
        if (process.hasStoppedItself()) {
            return EXIT_STOPPED_ITSELF;
        }
        return process.hasFailed() ? EXIT_FAILED : CommandLine.ExitCode.OK;
    }

    /** A stack for one in 128 buffers, as Netty notes by default, is a good part of what the NIC agent does. Before Netty is used. */
    private static void leaveBuffersUnsampled() {
        if (System.getProperty(LEAK_DETECTION) == null && System.getProperty(FORMER_LEAK_DETECTION) == null) {
            System.setProperty(LEAK_DETECTION, "disabled");
        }
    }

    /** Before the first logger is made: the logging reads these properties once. What the JVM was started with stays. */
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
        if (spec.defaultValueProvider() instanceof ZooKeeperNodeDefaults defaults) {
            final var unknown = defaults.unknown(spec);
            if (!unknown.isEmpty()) {
                throw new IllegalArgumentException(
                        "the options file has lines that are no options: " + String.join(", ", unknown));
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
        final HostAndPort reached =
                address(ServerOption.ADVERTISE, () -> clients).requireReachable();
        final HostAndPort peers =
                address(ServerOption.PEER_LISTEN, () -> new HostAndPort(clients.host(), clients.port() + 1));
        final HostAndPort peersReached = address(
                        ServerOption.PEER_ADVERTISE, () -> new HostAndPort(reached.host(), peers.port()))
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
            with.advertised = peersReached;
            with.clients = reached.toString();
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
            with.threading = threadingMode();
            with.secret = secret;
        });
        final String zooKeeper = text(ServerOption.ZOOKEEPER);
        final ZooKeeperAuth auth = ZooKeeperAuth.read(path(ServerOption.ZOOKEEPER_AUTH_FILE));
        if (auth == null && !ZooKeeperConfigurationStore.isOnThisMachine(zooKeeper)) {
            Log.LOG.warn(
                    "Anything that reaches ZooKeeper at {} can change this cluster's configuration: give --zookeeper-auth-file",
                    zooKeeper);
        }
        final PortCounters counts = new PortCounters();
        final ErrorLog errors = new ErrorLog(SystemClock.INSTANCE);
        return new ServerProcess(
                settings,
                new ZooKeeperConfigurationStore(zooKeeper, settings.cluster(), CONNECT_PATIENCE_MS, auth),
                peerAddress,
                admin.resolve(),
                new PortEndpoint(port, SystemClock.INSTANCE, errors, counts),
                counts,
                errors);
    }

    private @Nullable ClusterSecret secretFor(InetSocketAddress peers) {
        final String text =
                spec.defaultValueProvider() instanceof ZooKeeperNodeDefaults defaults ? defaults.clusterSecret() : null;
        final ClusterSecret secret = SecretFiles.clusterSecret(path(ServerOption.CLUSTER_SECRET_FILE), text);
        final boolean onThisMachine =
                peers.getAddress() != null && peers.getAddress().isLoopbackAddress();
        if (secret != null || onThisMachine) {
            return secret;
        }
        if (!ServerOption.INSECURE.isSet(spec)) {
            throw new IllegalArgumentException("other machines reach " + peers
                    + ", where servers come in, and the cluster has no secret: give every server the same"
                    + " --cluster-secret-file (\"openssl rand -hex 16\" makes one), or --insecure if only servers reach that"
                    + " network");
        }
        Log.LOG.warn("Anything that reaches {} can be a server of this cluster: it has no secret", peers);
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
                Durability.valueOf(text(ServerOption.DURABILITY).toUpperCase(Locale.ROOT)));
    }

    /** More than clients' usual deadline of ten seconds, within which a request is sent again. */
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
