package org.rowankv.check.local;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.rowankv.daemon.Launch;
import org.rowankv.daemon.local.LocalCluster;
import org.rowankv.daemon.local.LocalPorts;
import org.rowankv.server.membership.HostAndPort;

/**
 * A {@link LocalCluster} in a temporary directory: for a command that shows or checks something, and for tests. Its
 * processes are stopped at the end of this one too. If that comes by SIGKILL they end by themselves, and the directory stays.
 *
 * <p>For one thread.
 */
public final class TemporaryCluster implements AutoCloseable {
    /** How long all may take to serve. */
    private static final long PATIENCE_MS = 120_000;

    private final Path dir;
    private final LocalCluster cluster;
    private final Launch launch;
    private final Thread atExit;
    private boolean kept;

    private TemporaryCluster(Path dir, LocalCluster cluster, Launch launch) {
        this.dir = dir;
        this.cluster = cluster;
        this.launch = launch;
        this.atExit = new Thread(this::stopQuietly, "rowan-cluster-ends");
    }

    /**
     * Starts one, and waits until all its servers serve.
     *
     * @param name in the name of the directory
     * @param capacity of each server, {@code 256m}
     * @throws IOException if it does not come to serve; says why. Nothing runs then, and its logs stay
     */
    public static TemporaryCluster start(String name, int servers, int replicas, String capacity, Launch launch)
            throws IOException {
        return start(name, servers, replicas, capacity, launch, made -> {});
    }

    /**
     * As above.
     *
     * @param before receives the cluster before its processes start
     */
    public static TemporaryCluster start(
            String name, int servers, int replicas, String capacity, Launch launch, Consumer<LocalCluster> before)
            throws IOException {
        final Path dir = Files.createTempDirectory("rowan-" + name + "-");
        final LocalCluster.Shape shape = new LocalCluster.Shape(servers, replicas, capacity, 0);
        final LocalCluster made = LocalCluster.openOrMake(
                        dir, new LocalCluster.Shape(servers, replicas, capacity, LocalPorts.free(shape.ports())))
                .launchedBy(launch.endingWithParent());
        final TemporaryCluster cluster = new TemporaryCluster(dir, made, launch);
        Runtime.getRuntime().addShutdownHook(cluster.atExit);
        boolean serves = false;
        try {
            before.accept(made);
            cluster.startProcesses();
            serves = true;
            return cluster;
        } finally {
            if (!serves) {
                cluster.keep();
                cluster.close();
            }
        }
    }

    private void startProcesses() throws IOException {
        cluster.start();
        awaitServing();
    }

    /** Waits until all serve. */
    public void awaitServing() throws IOException {
        final String problem = cluster.awaitServing(PATIENCE_MS);
        if (!problem.isEmpty()) {
            throw new IOException("the cluster in " + dir + " does not serve: " + problem);
        }
    }

    /** How its processes are started. */
    public Launch launch() {
        return launch;
    }

    public LocalCluster cluster() {
        return cluster;
    }

    public Path dir() {
        return dir;
    }

    /** Where clients reach the servers, by number. */
    public List<String> addresses() {
        final List<String> addresses = new ArrayList<>();
        for (int server = 0; server < cluster.shape().servers(); server++) {
            final HostAndPort listening = cluster.clientsOf(server);
            addresses.add(
                    server < launch.advertised().size() ? launch.advertised().get(server) : listening.toString());
        }
        return addresses;
    }

    /** {@code rowan://host:port,host:port/} */
    public String uri() {
        return "rowan://" + String.join(",", addresses()) + "/";
    }

    /** Stops the servers cleanly; ZooKeeper goes on. */
    public void stopServers() throws IOException {
        final List<String> forced = cluster.stopServers();
        if (!forced.isEmpty()) {
            throw new IOException("these servers did not stop by themselves: " + String.join(", ", forced)
                    + "; their logs are in " + dir);
        }
    }

    /** Starts the servers again, and waits until all serve. */
    public void startServers() throws IOException {
        startProcesses();
    }

    /** Keeps the directory when the cluster closes, for inspection. */
    public void keep() {
        kept = true;
    }

    private void stopQuietly() {
        try {
            final List<String> forced = cluster.stop();
            forced.forEach(name -> System.err.println(name + " was ended by force"));
        } catch (IOException e) {
            System.err.println("processes of the cluster in " + dir + " could not be stopped: " + e.getMessage());
        }
    }

    /** Stops all processes, and removes the directory unless it is to stay. */
    @Override
    public void close() throws IOException {
        final List<String> forced = cluster.stop();
        try {
            final boolean removed = Runtime.getRuntime().removeShutdownHook(atExit);
            assert removed;
        } catch (IllegalStateException e) {
            return; // this process is ending: the directory stays
        }
        if (!forced.isEmpty()) {
            throw new IOException(
                    String.join(", ", forced) + " did not stop, and had to be ended by force; logs are in " + dir);
        }
        if (!kept) {
            try (Stream<Path> all = Files.walk(dir)) {
                for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(path);
                }
            }
        }
    }
}
