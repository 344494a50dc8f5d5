package org.rowankv.daemon.local;

import java.io.IOException;
import java.io.Reader;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.rowankv.daemon.Launch;
import org.rowankv.daemon.ServerCommand;
import org.rowankv.daemon.StatusText;
import org.rowankv.daemon.admin.AdminRequest;
import org.rowankv.daemon.options.SecretFiles;
import org.rowankv.daemon.zookeeper.ZooKeeperConfigurationStore;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.configstore.ConfigurationStore;
import org.rowankv.server.membership.HostAndPort;

/**
 * A cluster of processes on this machine, with its own ZooKeeper, in one directory:
 *
 * <pre>
 *   cluster.properties   its shape
 *   cluster.secret       the secret of its servers
 *   zookeeper/           the data of its ZooKeeper
 *   server-1/ …          the data of its servers
 *   *.log *.pid          of each process
 * </pre>
 *
 * For development and tests: everything listens on the loopback address.
 */
public final class LocalCluster {
    public static final String CLUSTER = "local";
    private static final String FILE = "cluster.properties";
    private static final String SECRET_FILE = "cluster.secret";
    private static final int PORTS_PER_SERVER = 3;
    private static final long POLL_NS = 50_000_000;
    private static final long STOP_TIMEOUT_MS = 20_000;
    private static final long STATUS_TIMEOUT_NS = 60_000_000_000L;
    private static final int CONNECT_TIMEOUT_MS = 20_000;

    /**
     * Shape of a cluster, fixed at its creation.
     *
     * @param capacity of each server, {@code 256m}
     * @param port of ZooKeeper; each server uses the next three
     */
    public record Shape(int servers, int replicas, String capacity, int port) {
        /** Number of consecutive ports. */
        public int ports() {
            return 1 + PORTS_PER_SERVER * servers;
        }
    }

    private final Path dir;
    private final Shape shape;
    private final LocalProcess zooKeeper;
    private final List<LocalProcess> servers = new ArrayList<>();
    private final Clock clock = SystemClock.INSTANCE;
    private Launch launch = Launch.DEFAULT;

    private LocalCluster(Path dir, Shape shape) {
        this.dir = dir.toAbsolutePath();
        this.shape = shape;
        this.zooKeeper = new LocalProcess(this.dir, "zookeeper");
        for (int server = 1; server <= shape.servers(); server++) {
            servers.add(new LocalProcess(this.dir, "server-" + server));
        }
    }

    /** Opens the cluster in a directory, or creates it; the stored shape applies. */
    public static LocalCluster openOrMake(Path dir, Shape shape) throws IOException {
        final Path file = dir.resolve(FILE);
        if (!Files.exists(file)) {
            Files.createDirectories(dir);
            final Properties properties = new Properties();
            properties.setProperty("servers", Integer.toString(shape.servers()));
            properties.setProperty("replicas", Integer.toString(shape.replicas()));
            properties.setProperty("capacity", shape.capacity());
            properties.setProperty("port", Integer.toString(shape.port()));
            try (Writer writer = Files.newBufferedWriter(file, StandardCharsets.UTF_8)) {
                properties.store(writer, "A Rowan-KV cluster on this machine");
            }
        }
        return open(dir);
    }

    /** @throws IOException if there is none */
    public static LocalCluster open(Path dir) throws IOException {
        final Properties properties = new Properties();
        try (Reader reader = Files.newBufferedReader(dir.resolve(FILE), StandardCharsets.UTF_8)) {
            properties.load(reader);
        } catch (java.nio.file.NoSuchFileException e) {
            throw new IOException("there is no cluster in " + dir, e);
        }
        try {
            return new LocalCluster(
                    dir,
                    new Shape(
                            Integer.parseInt(properties.getProperty("servers")),
                            Integer.parseInt(properties.getProperty("replicas")),
                            properties.getProperty("capacity"),
                            Integer.parseInt(properties.getProperty("port"))));
        } catch (NumberFormatException e) {
            throw new IOException(dir.resolve(FILE) + " is damaged: " + e.getMessage(), e);
        }
    }

    /** Sets how processes are started from now on. */
    public LocalCluster launchedBy(Launch how) {
        launch = how;
        return this;
    }

    public Shape shape() {
        return shape;
    }

    public String zooKeeperAddress() {
        return new HostAndPort("127.0.0.1", shape.port()).toString();
    }

    private int portOf(int server) {
        return shape.port() + 1 + server * PORTS_PER_SERVER;
    }

    /** Listen address of a server for clients; clients connect to it unless {@link Launch#advertised} differs. */
    public HostAndPort clientsOf(int server) {
        return new HostAndPort("127.0.0.1", portOf(server));
    }

    /** Listen address of a server for other servers. */
    public HostAndPort peersOf(int server) {
        return new HostAndPort("127.0.0.1", portOf(server) + 1);
    }

    /** The directory of a server's data. */
    public Path dataOf(int server) {
        return dir.resolve(servers.get(server).name());
    }

    private Path secretFile() {
        return dir.resolve(SECRET_FILE);
    }

    /** Its name in the cluster. */
    public String nameOf(int server) {
        return servers.get(server).name();
    }

    /** The log of a server's process. */
    public Path logOf(int server) {
        return servers.get(server).log();
    }

    private HostAndPort adminOf(int server) {
        return new HostAndPort("127.0.0.1", portOf(server) + 2);
    }

    /** Starts the processes that do not run. */
    public void start() throws IOException {
        startZooKeeper();
        for (int server = 0; server < servers.size(); server++) {
            startServer(server);
        }
    }

    /** Starts ZooKeeper with its existing data, unless it runs. */
    public void startZooKeeper() throws IOException {
        if (zooKeeper.running().isEmpty()) {
            zooKeeper.start(
                    launch,
                    ZooKeeperProcess.class,
                    List.of(dir.resolve("zookeeper").toString(), Integer.toString(shape.port())));
        }
    }

    /** The process of ZooKeeper, if it runs. */
    public Optional<ProcessHandle> zooKeeperProcess() {
        return zooKeeper.running();
    }

    /** The process of a server, if it runs. */
    public Optional<ProcessHandle> serverProcess(int server) {
        return servers.get(server).running();
    }

    /** Starts a server with its existing data, unless it runs. */
    public void startServer(int server) throws IOException {
        final LocalProcess process = servers.get(server);
        if (process.running().isEmpty()) {
            SecretFiles.createIfAbsent(secretFile());
            final List<String> options = new ArrayList<>(List.of(
                    "--name=" + process.name(),
                    "--data=" + dataOf(server),
                    "--zookeeper=" + zooKeeperAddress(),
                    "--cluster=" + CLUSTER,
                    "--cluster-secret-file=" + secretFile(),
                    "--listen=" + clientsOf(server),
                    "--expect=" + shape.servers(),
                    "--replicas=" + shape.replicas(),
                    "--capacity=" + shape.capacity()));
            if (server < launch.advertised().size()) {
                options.add("--advertise=" + launch.advertised().get(server));
            }
            if (server < launch.peersAdvertised().size()) {
                options.add("--peer-advertise=" + launch.peersAdvertised().get(server));
            }
            for (String option : launch.serverOptions()) {
                final String named = option.substring(0, option.indexOf('=') + 1);
                options.removeIf(each -> !named.isEmpty() && each.startsWith(named));
                options.add(option);
            }
            process.start(launch, ServerCommand.class, options);
        }
    }

    /**
     * Waits until all servers serve.
     *
     * @return empty, or the problem
     */
    public String awaitServing(long timeoutMs) {
        return awaitServing(timeoutMs, Set.of());
    }

    /**
     * As above.
     *
     * @param lost servers that are not waited for
     */
    public String awaitServing(long timeoutMs, Set<Integer> lost) {
        final List<LocalProcess> needed = processes();
        lost.forEach(server -> needed.remove(servers.get(server)));
        final long fromNs = clock.nanoTime();
        while (true) {
            final String problem = problem(lost);
            if (problem.isEmpty()) {
                return "";
            }
            for (LocalProcess process : needed) {
                if (process.running().isEmpty()) {
                    return process.name() + " has ended; the end of its log, " + process.log() + ":\n"
                            + process.lastLines();
                }
            }
            if (clock.nanoTime() - fromNs >= timeoutMs * 1_000_000) {
                return problem;
            }
            LockSupport.parkNanos(POLL_NS);
        }
    }

    private String problem(Set<Integer> lost) {
        for (int server = 0; server < servers.size(); server++) {
            final String health = lost.contains(server) ? "serving" : health(server);
            if (!health.equals("serving")) {
                return servers.get(server).name() + ": " + health + " (log: "
                        + servers.get(server).log() + ")";
            }
        }
        return "";
    }

    private String health(int server) {
        final HostAndPort admin = adminOf(server);
        try {
            // Its second line names the fabric.
            return AdminRequest.ask(admin.host(), admin.port(), "health")
                    .lines()
                    .findFirst()
                    .orElse(StatusText.AWAY);
        } catch (IOException e) {
            return StatusText.AWAY;
        }
    }

    /**
     * A server's status values, by name.
     *
     * @throws IOException if it does not answer within a minute
     */
    public Map<String, String> statusOf(int server) throws IOException {
        final long fromNs = clock.nanoTime();
        while (true) {
            try {
                return AdminRequest.askStatus(adminOf(server));
            } catch (IOException e) {
                // On a busy machine an answer may take longer than the timeout of the request.
                if (servers.get(server).running().isEmpty() || clock.nanoTime() - fromNs >= STATUS_TIMEOUT_NS) {
                    throw e;
                }
                LockSupport.parkNanos(POLL_NS);
            }
        }
    }

    /** As {@link #statusOf}, asked once; without values if it does not answer. */
    public Map<String, String> statusNow(int server) {
        try {
            return AdminRequest.askStatus(adminOf(server));
        } catch (IOException e) {
            return Map.of();
        }
    }

    /** A server's metrics, as OpenMetrics text. */
    public String metricsOf(int server) throws IOException {
        final HostAndPort admin = adminOf(server);
        return AdminRequest.ask(admin.host(), admin.port(), "metrics");
    }

    /** A connection to its configuration store; the caller closes it. */
    public ConfigurationStore connect() {
        return new ZooKeeperConfigurationStore(zooKeeperAddress(), CLUSTER, CONNECT_TIMEOUT_MS);
    }

    /** Stops a server by SIGTERM; false if it had to be killed. */
    public boolean stopServer(int server) throws IOException {
        return servers.get(server).stop(STOP_TIMEOUT_MS);
    }

    /**
     * Stops a server by SIGTERM and starts it with the command line with which it ran: its own options and those of its JVM.
     *
     * @param java the program from now on; null: the same
     * @return false if it had to be killed
     */
    public boolean restartServer(int server, @Nullable Path java) throws IOException {
        final LocalProcess process = servers.get(server);
        final List<String> command = new ArrayList<>(process.command());
        final boolean byItself = stopServer(server);
        if (command.isEmpty()) {
            startServer(server); // the system does not show how it ran
            return byItself;
        }
        if (java != null) {
            command.set(0, java.toString());
        } else if (!Files.isExecutable(Path.of(command.get(0)))) {
            command.set(0, launch.java().toString()); // that Java was replaced meanwhile
        }
        process.startAgain(command);
        return byItself;
    }

    private List<LocalProcess> processes() {
        final List<LocalProcess> all = new ArrayList<>(servers);
        all.add(zooKeeper);
        return all;
    }

    /** Stops all servers at once, then ZooKeeper; returns the processes that had to be killed. */
    public List<String> stop() throws IOException {
        return stop(processes());
    }

    /** As {@link #stop}, except for ZooKeeper. */
    public List<String> stopServers() throws IOException {
        return stop(servers);
    }

    private List<String> stop(List<LocalProcess> these) throws IOException {
        final List<String> forced = new ArrayList<>();
        for (LocalProcess server : servers) {
            server.running().ifPresent(ProcessHandle::destroy);
        }
        for (LocalProcess process : these) {
            if (!process.stop(STOP_TIMEOUT_MS)) {
                forced.add(process.name());
            }
        }
        return forced;
    }
}
