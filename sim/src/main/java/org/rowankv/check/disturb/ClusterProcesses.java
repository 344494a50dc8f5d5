package org.rowankv.check.disturb;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;
import org.rowankv.daemon.local.LocalCluster;

/** Kills, stops and starts the processes of a cluster, and tells those from processes that end by themselves. Thread-safe. */
public final class ClusterProcesses {
    private static final int END_TIMEOUT_SECONDS = 20;
    private static final String MANAGER = "manager";
    private static final String PREFIX = "server-";

    private final LocalCluster cluster;
    /** Servers that are down because they were killed here. */
    private final Set<Integer> killed = ConcurrentHashMap.newKeySet();

    public ClusterProcesses(LocalCluster cluster) {
        this.cluster = cluster;
    }

    /** The name of a server in its cluster. */
    public static String name(int server) {
        return PREFIX + (server + 1);
    }

    /**
     * The number of a server.
     *
     * @param name {@code server-2}, or {@code manager} for the present configuration manager
     * @throws IOException if the manager is unknown
     */
    public static int numberOf(String name, ClusterWatch watch) throws IOException {
        if (!name.equals(MANAGER)) {
            return Integer.parseInt(name.substring(PREFIX.length())) - 1;
        }
        final int manager = watch.configuration().manager();
        if (manager < 0) {
            throw new IOException("the cluster has no configuration manager");
        }
        return manager;
    }

    /**
     * Returns the name, if a cluster has such a server.
     *
     * @param option that gives it
     * @throws IllegalArgumentException otherwise; the message says which names there are
     */
    public static String requireName(String option, String name, int servers) {
        if (name.equals(MANAGER)
                || IntStream.range(0, servers).anyMatch(server -> name(server).equals(name))) {
            return name;
        }
        throw new IllegalArgumentException(
                option + " " + name + " is no server: use " + MANAGER + ", or " + name(0) + " to " + name(servers - 1));
    }

    /**
     * SIGKILL of a server; it has ended when this returns.
     *
     * @throws IOException if it has ended before, by itself
     */
    public void kill(int server) throws IOException {
        final ProcessHandle running = running(server);
        killed.add(server);
        end(running, name(server));
    }

    /**
     * SIGTERM of a server; it has ended when this returns.
     *
     * @throws IOException if it has ended before, by itself, or does not end
     */
    public void terminate(int server) throws IOException {
        final ProcessHandle running = running(server);
        killed.add(server);
        running.destroy();
        awaitEnd(running, name(server));
    }

    /** SIGKILL of several servers within about a millisecond; all have ended when this returns. */
    public void killAtOnce(List<Integer> servers) throws IOException {
        final List<ProcessHandle> all = new ArrayList<>();
        for (int server : servers) {
            all.add(running(server));
        }
        killed.addAll(servers);
        all.forEach(ProcessHandle::destroyForcibly);
        for (int i = 0; i < all.size(); i++) {
            awaitEnd(all.get(i), name(servers.get(i)));
        }
    }

    /** SIGKILL of ZooKeeper. */
    public void killZooKeeper() throws IOException {
        end(
                cluster.zooKeeperProcess().orElseThrow(() -> new IOException("ZooKeeper has ended by itself")),
                "ZooKeeper");
    }

    /** Starts a server on its data, unless it runs. */
    public void start(int server) throws IOException {
        cluster.startServer(server);
        killed.remove(server);
    }

    public void startZooKeeper() throws IOException {
        cluster.startZooKeeper();
    }

    /** SIGSTOP of a server, until the result is closed. */
    public StoppedProcess stop(int server) throws IOException {
        return StoppedProcess.stop(running(server));
    }

    /** The servers that have ended, and were not killed here. */
    public List<Integer> endedByThemselves() {
        final List<Integer> ended = new ArrayList<>();
        for (int server = 0; server < cluster.shape().servers(); server++) {
            if (!killed.contains(server) && cluster.serverProcess(server).isEmpty()) {
                ended.add(server);
            }
        }
        return ended;
    }

    private ProcessHandle running(int server) throws IOException {
        return cluster.serverProcess(server)
                .orElseThrow(() ->
                        new IOException(name(server) + " has ended by itself; its log is " + cluster.logOf(server)));
    }

    private static void end(ProcessHandle process, String name) throws IOException {
        process.destroyForcibly();
        awaitEnd(process, name);
    }

    private static void awaitEnd(ProcessHandle process, String name) throws IOException {
        try {
            process.onExit().get(END_TIMEOUT_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while " + name + " was killed");
        } catch (TimeoutException | ExecutionException e) {
            throw new IOException("process " + process.pid() + ", " + name + ", does not end", e);
        }
    }
}
