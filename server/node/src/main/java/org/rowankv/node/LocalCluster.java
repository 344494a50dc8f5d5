package org.rowankv.node;

import java.io.IOException;
import java.io.Reader;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.locks.LockSupport;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.cluster.HostAndPort;

/**
 * A cluster of processes on this machine, with a ZooKeeper of its own, in one directory:
 *
 * <pre>
 *   cluster.properties   what it was made with
 *   zookeeper/           the data of its ZooKeeper
 *   server-1/ …          the data of its servers
 *   *.log *.pid          of each process
 * </pre>
 *
 * For development and tests: everything listens on the loopback address.
 */
final class LocalCluster {
    static final String CLUSTER = "local";
    private static final String FILE = "cluster.properties";
    private static final int PORTS_PER_SERVER = 3;
    private static final long LOOK_NS = 50_000_000;
    private static final long STOP_PATIENCE_MS = 20_000;

    /** What a cluster is made with. */
    record Shape(int servers, int replicas, String capacity, int port) {}

    private final Path dir;
    private final Shape shape;
    private final LocalProcess zooKeeper;
    private final List<LocalProcess> servers = new ArrayList<>();
    private final Clock clock = SystemClock.INSTANCE;

    private LocalCluster(Path dir, Shape shape) {
        this.dir = dir.toAbsolutePath();
        this.shape = shape;
        this.zooKeeper = new LocalProcess(this.dir, "zookeeper");
        for (int server = 1; server <= shape.servers(); server++) {
            servers.add(new LocalProcess(this.dir, "server-" + server));
        }
    }

    /** The cluster in a directory, which is made if there is none there; what it was made with counts. */
    static LocalCluster openOrMake(Path dir, Shape shape) throws IOException {
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
    static LocalCluster open(Path dir) throws IOException {
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

    Shape shape() {
        return shape;
    }

    String zooKeeperAddress() {
        return new HostAndPort("127.0.0.1", shape.port()).toString();
    }

    private int portOf(int server) {
        return shape.port() + 1 + server * PORTS_PER_SERVER;
    }

    /** Where clients reach a server. */
    HostAndPort clientsOf(int server) {
        return new HostAndPort("127.0.0.1", portOf(server));
    }

    private HostAndPort adminOf(int server) {
        return new HostAndPort("127.0.0.1", portOf(server) + 2);
    }

    /** Starts what does not run. */
    void start() throws IOException {
        if (zooKeeper.running().isEmpty()) {
            zooKeeper.start(
                    ZooKeeperProcess.class,
                    List.of(dir.resolve("zookeeper").toString(), Integer.toString(shape.port())));
        }
        for (int server = 0; server < servers.size(); server++) {
            startServer(server);
        }
    }

    void startServer(int server) throws IOException {
        final LocalProcess process = servers.get(server);
        if (process.running().isEmpty()) {
            process.start(
                    ServerCommand.class,
                    List.of(
                            "--name=" + process.name(),
                            "--data=" + dir.resolve(process.name()),
                            "--zookeeper=" + zooKeeperAddress(),
                            "--cluster=" + CLUSTER,
                            "--listen=" + clientsOf(server),
                            "--expect=" + shape.servers(),
                            "--replicas=" + shape.replicas(),
                            "--capacity=" + shape.capacity()));
        }
    }

    /**
     * Waits until all servers serve.
     *
     * @return empty, or what is wrong
     */
    String awaitServing(long patienceMs) {
        final long fromNs = clock.nanoTime();
        while (true) {
            final String problem = problem();
            if (problem.isEmpty()) {
                return "";
            }
            for (LocalProcess process : processes()) {
                if (process.running().isEmpty()) {
                    return process.name() + " has ended; the end of its log, " + process.log() + ":\n"
                            + process.lastLines();
                }
            }
            if (clock.nanoTime() - fromNs >= patienceMs * 1_000_000) {
                return problem;
            }
            LockSupport.parkNanos(LOOK_NS);
        }
    }

    private String problem() {
        for (int server = 0; server < servers.size(); server++) {
            final String health = health(server);
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
            return AdminPort.ask(admin.host(), admin.port(), "health").strip();
        } catch (IOException e) {
            return StatusText.AWAY;
        }
    }

    private List<LocalProcess> processes() {
        final List<LocalProcess> all = new ArrayList<>(servers);
        all.add(zooKeeper);
        return all;
    }

    /** Asks all servers to stop, at once, then ZooKeeper; returns those that had to be ended by force. */
    List<String> stop() throws IOException {
        final List<String> forced = new ArrayList<>();
        for (LocalProcess server : servers) {
            server.running().ifPresent(ProcessHandle::destroy);
        }
        for (LocalProcess process : processes()) {
            if (!process.stop(STOP_PATIENCE_MS)) {
                forced.add(process.name());
            }
        }
        return forced;
    }
}
