package org.rowankv.daemon;

import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.rowankv.daemon.zookeeper.NodeDefaults;
import org.rowankv.daemon.zookeeper.SecretFiles;
import org.rowankv.daemon.zookeeper.ZooKeeperAuth;
import org.rowankv.daemon.zookeeper.ZooKeeperConfigurationStore;
import org.rowankv.rdma.secret.ClusterSecret;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.SystemClock;
import org.rowankv.runtime.agent.ThreadingMode;
import org.rowankv.server.area.AreaSettings;
import org.rowankv.server.cluster.ClusterSettings;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.frontend.ClientPortSettings;
import org.rowankv.server.frontend.PortCounts;
import org.rowankv.server.membership.ClusterShape;
import org.rowankv.server.membership.HostAndPort;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code rowan server}: one server of a cluster, until it is told to stop. */
@Command(
        name = "server",
        mixinStandardHelpOptions = true,
        sortOptions = false,
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

    private static final int MOST_WORKERS = 1024;
    private static final int CONNECT_PATIENCE_MS = 3000;
    private static final int LEAST_SESSION_LEASE = 20;

    /** Made when first used: after the logging was set up. */
    private static final class Log {
        static final Logger LOG = LoggerFactory.getLogger(ServerCommand.class);
    }

    @Spec
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandSpec spec;

    @Option(names = NodeDefaults.FILE_OPTION, paramLabel = "FILE", description = "file with options, a line each")
    @SuppressWarnings("UnusedVariable") // read by the default values, before the others are
    private @Nullable Path optionsFile;

    @Option(
            names = "--name",
            required = true,
            description = "name of this server, unique in its cluster: a-z 0-9 . _ -")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private String name;

    @Option(names = "--data", required = true, paramLabel = "DIR", description = "directory of this server's data")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private Path data;

    @Option(
            names = "--zookeeper",
            required = true,
            paramLabel = "HOST:PORT,…",
            description = "servers of the ZooKeeper that holds the configuration")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private String zooKeeper;

    @Option(names = "--cluster", defaultValue = "rowan", description = "name of the cluster (${DEFAULT-VALUE})")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private String cluster;

    @Option(
            names = "--listen",
            defaultValue = "127.0.0.1:7171",
            paramLabel = "HOST:PORT",
            description = "where clients come in (${DEFAULT-VALUE})")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private String listen;

    @Option(
            names = "--advertise",
            paramLabel = "HOST:PORT",
            description = "where clients and servers reach this machine, if not at --listen")
    private @Nullable String advertise;

    @Option(
            names = "--peer-listen",
            paramLabel = "HOST:PORT",
            description = "where the other servers come in (the port after that of --listen)")
    private @Nullable String peerListen;

    @Option(
            names = "--peer-advertise",
            paramLabel = "HOST:PORT",
            description = "where the other servers reach this one (the host of --advertise, the port of --peer-listen)")
    private @Nullable String peerAdvertise;

    @Option(
            names = "--admin-listen",
            paramLabel = "HOST:PORT",
            description = "where \"rowan health\" and \"rowan status\" ask (127.0.0.1, two ports after --listen)")
    private @Nullable String adminListen;

    @Option(
            names = "--cluster-secret-file",
            paramLabel = "FILE",
            description = "file with the secret that all servers of the cluster share, at least 16 bytes;"
                    + " or the secret itself in the environment, as ROWAN_CLUSTER_SECRET")
    private @Nullable Path clusterSecretFile;

    @Option(
            names = "--insecure",
            description = "listen for servers beyond this machine without a secret: whoever reaches that port can be a"
                    + " server")
    private boolean insecure;

    @Option(
            names = "--zookeeper-auth-file",
            paramLabel = "FILE",
            description =
                    "file with scheme:credential for ZooKeeper, such as digest:user:password; nodes are made for it"
                            + " alone")
    private @Nullable Path zooKeeperAuthFile;

    @Option(names = "--expect", required = true, paramLabel = "N", description = "servers that the cluster has")
    private int expect;

    @Option(names = "--replicas", defaultValue = "0", description = "copies of every object (2, or 1 of one server)")
    private int replicas;

    @Option(names = "--shards", defaultValue = "0", description = "into which the keys are divided (48 per server)")
    private int shards;

    @Option(names = "--zone", defaultValue = "", description = "of this machine; replicas go to different zones")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private String zone;

    @Option(names = "--capacity", defaultValue = "1g", description = "bytes of log, 256m or 2g (${DEFAULT-VALUE})")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private String capacity;

    @Option(names = "--segment", defaultValue = "1m", description = "bytes of a segment (${DEFAULT-VALUE})")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private String segment;

    @Option(names = "--max-message", defaultValue = "16k", description = "longest message (${DEFAULT-VALUE})")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private String maxMessage;

    @Option(names = "--durability", defaultValue = "process", description = "process or power (${DEFAULT-VALUE})")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private String durability;

    @Option(
            names = "--workers",
            defaultValue = "0",
            description =
                    "event loops that serve clients, each with a log of its own (1, and 1 more for every 4 processors"
                            + " from 8 on)")
    private int workers;

    @Option(
            names = "--client-memory",
            paramLabel = "BYTES",
            description =
                    "for unfinished frames, unsent answers, and keys and values of requests of all clients, with k, m or"
                            + " g (an eighth of the heap)")
    private @Nullable String clientMemory;

    @Option(
            names = "--threading",
            defaultValue = "auto",
            paramLabel = "MODE",
            description = "shared: one thread for all agents; dedicated: commit has its own; auto: dedicated from 8"
                    + " processors (${DEFAULT-VALUE})")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private String threading;

    @Option(names = "--verify-reads", description = "check the checksums on every read")
    private boolean verifyReads;

    @Option(names = "--scrub-rate", defaultValue = "4", description = "MiB per second read again (${DEFAULT-VALUE})")
    private int scrubRate;

    @Option(
            names = "--session-lease",
            defaultValue = "600",
            paramLabel = "SECONDS",
            description = "after which a client that is not heard of counts as gone; 0: never (${DEFAULT-VALUE})")
    private int sessionLease;

    @Option(
            names = "--drain",
            defaultValue = "" + ClusterSettings.DEFAULT_DRAIN_MS,
            description = "ms that a stop waits (${DEFAULT-VALUE})")
    private long drain;

    @Option(names = "--accept-unclean", description = "use data that a power cut or damage has left incomplete")
    private boolean acceptUnclean;

    @Option(names = "--accept-copied", description = "use a directory that is a copy of the one this server had")
    private boolean acceptCopied;

    public static void main(String[] arguments) {
        NodeLogging.setUp();
        ParentWatch.beginIfAsked();
        System.exit(Commands.execute(new ServerCommand(), arguments));
    }

    @Override
    public Integer call() {
        final NodeProcess process;
        try {
            requireKnownOptions();
            leaveBuffersUnsampled();
            process = open();
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()));
        } catch (UncheckedIOException e) {
            Log.LOG.error(
                    "server {} cannot run: {}",
                    name,
                    e.getCause() == null ? e : e.getCause().getMessage());
            return EXIT_FAILED;
        }
        final Thread hook = new Thread(
                () -> {
                    Log.LOG.info("server {} stops", name);
                    process.close();
                    Log.LOG.info("server {} has stopped", name);
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

    private void requireKnownOptions() {
        if (spec.defaultValueProvider() instanceof NodeDefaults defaults) {
            final var unknown = defaults.unknown(spec);
            if (!unknown.isEmpty()) {
                throw new IllegalArgumentException(
                        "the options file has lines that are no options: " + String.join(", ", unknown));
            }
        }
    }

    private NodeProcess open() {
        final HostAndPort clients = HostAndPort.parse(listen);
        final HostAndPort reached = (advertise == null ? clients : HostAndPort.parse(advertise)).requireReachable();
        final HostAndPort peers = peerListen == null
                ? new HostAndPort(clients.host(), clients.port() + 1)
                : HostAndPort.parse(peerListen);
        final HostAndPort peersReached = (peerAdvertise == null
                        ? new HostAndPort(reached.host(), peers.port())
                        : HostAndPort.parse(peerAdvertise))
                .requireReachable();
        final HostAndPort admin =
                adminListen == null ? new HostAndPort("127.0.0.1", clients.port() + 2) : HostAndPort.parse(adminListen);
        final InetSocketAddress peerAddress = peers.resolve();
        final ClusterSecret secret = secretFor(peerAddress);
        final int copies = replicas == 0 ? Math.min(2, expect) : replicas;
        if (workers < 0 || workers > MOST_WORKERS) {
            throw new IllegalArgumentException("--workers must be 1.." + MOST_WORKERS + ", not " + workers);
        }
        final ClientPortSettings port = ClientPortSettings.at(clients.host(), clients.port(), with -> {
            with.loops = workers == 0 ? with.loops : workers;
            with.maxHeldBytes = clientMemory == null ? with.maxHeldBytes : ByteSize.parse(clientMemory);
        });
        final ClusterSettings settings = ClusterSettings.of(with -> {
            with.cluster = cluster;
            with.name = name;
            with.dir = data;
            with.advertised = peersReached;
            with.clients = reached.toString();
            with.admin = admin.toString();
            with.zone = zone;
            with.shape = new ClusterShape(
                    expect,
                    copies,
                    shards == 0 ? ClusterSettings.DEFAULT_SHARDS_PER_SERVER * expect : shards,
                    size("--segment", segment, AreaSettings.MAX_SEGMENT_LENGTH),
                    size("--max-message", maxMessage, Integer.MAX_VALUE),
                    level());
            with.capacityBytes = ByteSize.parse(capacity);
            with.workers = port.loops();
            with.verifyReads = verifyReads;
            with.scrubMibPerSecond = scrubRate;
            with.drainMs = drain;
            with.acceptUnclean = acceptUnclean;
            with.acceptCopied = acceptCopied;
            with.sessionLeaseMs = sessionLeaseMs();
            with.threading = threadingMode();
            with.secret = secret;
        });
        final ZooKeeperAuth auth = ZooKeeperAuth.read(zooKeeperAuthFile);
        if (auth == null && !ZooKeeperConfigurationStore.isOnThisMachine(zooKeeper)) {
            Log.LOG.warn(
                    "Whoever reaches ZooKeeper at {} can change this cluster's configuration: give --zookeeper-auth-file",
                    zooKeeper);
        }
        final PortCounts counts = new PortCounts();
        final ErrorLog errors = new ErrorLog(SystemClock.INSTANCE);
        return new NodeProcess(
                settings,
                new ZooKeeperConfigurationStore(zooKeeper, cluster, CONNECT_PATIENCE_MS, auth),
                peerAddress,
                admin.resolve(),
                new PortDoor(port, SystemClock.INSTANCE, errors, counts),
                counts,
                errors);
    }

    private @Nullable ClusterSecret secretFor(InetSocketAddress peers) {
        final String text =
                spec.defaultValueProvider() instanceof NodeDefaults defaults ? defaults.clusterSecret() : null;
        final ClusterSecret secret = SecretFiles.clusterSecret(clusterSecretFile, text);
        final boolean onThisMachine =
                peers.getAddress() != null && peers.getAddress().isLoopbackAddress();
        if (secret != null || onThisMachine) {
            return secret;
        }
        if (!insecure) {
            throw new IllegalArgumentException("other machines reach " + peers
                    + ", where servers come in, and the cluster has no secret: give every server the same"
                    + " --cluster-secret-file (\"openssl rand -hex 16\" makes one), or --insecure if only servers reach that"
                    + " network");
        }
        Log.LOG.warn("Whoever reaches {} can be a server of this cluster: it has no secret", peers);
        return null;
    }

    /** More than clients' usual deadline of ten seconds, within which a request is sent again. */
    private long sessionLeaseMs() {
        if (sessionLease != 0 && sessionLease < LEAST_SESSION_LEASE) {
            throw new IllegalArgumentException(
                    "--session-lease must be 0 (for ever) or at least " + LEAST_SESSION_LEASE + " seconds");
        }
        return sessionLease * 1000L;
    }

    private ThreadingMode threadingMode() {
        return switch (threading.toLowerCase(Locale.ROOT)) {
            case "shared" -> ThreadingMode.SHARED;
            case "dedicated" -> ThreadingMode.DEDICATED;
            case "auto" -> ThreadingMode.forProcessors(Runtime.getRuntime().availableProcessors());
            default ->
                throw new IllegalArgumentException("--threading must be shared, dedicated or auto, not " + threading);
        };
    }

    private static int size(String option, String text, int most) {
        final long bytes = ByteSize.parse(text);
        if (bytes < 1 || bytes > most) {
            throw new IllegalArgumentException(option + " must be 1.." + most + " bytes, not " + bytes);
        }
        return (int) bytes;
    }

    private Durability level() {
        try {
            return Durability.valueOf(durability.toUpperCase(Locale.ROOT));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("--durability must be process or power, not " + durability);
        }
    }
}
