package org.rowankv.check.cluster;

import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import javax.cache.CacheManager;
import org.rowankv.check.disturb.ClusterProcesses;
import org.rowankv.check.disturb.ClusterWatch;
import org.rowankv.check.local.TemporaryCluster;
import org.rowankv.daemon.local.LocalCluster;
import org.rowankv.samples.quickstart.QuickstartStore;

/** A store of server processes; all are restarted, to reduce the store to its files. One may be lost halfway. */
public final class ClusterQuickstartStore implements QuickstartStore {
    private static final long START_TIMEOUT_MS = 120_000;

    private final TemporaryCluster cluster;
    private final String toLose;
    private final Set<Integer> lost = new HashSet<>();

    /** @param toLose the name of the server that is killed for good, or empty */
    public ClusterQuickstartStore(TemporaryCluster cluster, String toLose) {
        this.cluster = cluster;
        this.toLose = toLose;
    }

    @Override
    public String halfway() throws IOException {
        if (toLose.isEmpty()) {
            return "";
        }
        try (ClusterWatch watch = new ClusterWatch(cluster.cluster())) {
            final int server = ClusterProcesses.numberOf(toLose, watch);
            new ClusterProcesses(cluster.cluster()).kill(server);
            lost.add(server);
            return ClusterProcesses.name(server)
                    + (toLose.equals(ClusterProcesses.name(server)) ? "" : ", the manager,")
                    + " was killed, and does not return";
        }
    }

    @Override
    public String description() {
        final LocalCluster.Shape shape = cluster.cluster().shape();
        return shape.servers() + " server processes with " + shape.capacity() + " each, " + shape.replicas()
                + " replicas, and a ZooKeeper, in " + cluster.dir();
    }

    @Override
    public URI uri() {
        return URI.create(cluster.uri());
    }

    @Override
    public List<String> table(CacheManager manager) throws IOException {
        final List<String> lines = new ArrayList<>();
        lines.add("  server    process    term    objects   bytes left of the limit");
        for (int server = 0; server < cluster.cluster().shape().servers(); server++) {
            if (lost.contains(server)) {
                lines.add(String.format("  %6d %10s", server, "lost"));
                continue;
            }
            final Map<String, String> status = cluster.cluster().statusOf(server);
            lines.add(String.format(
                    Locale.ROOT,
                    "  %6d %10s %7s %10s   %s of %s",
                    server,
                    status.get("pid"),
                    status.get("term"),
                    status.getOrDefault("objects", "-"),
                    status.getOrDefault("space-available", "-"),
                    status.getOrDefault("space-limit", "-")));
        }
        return lines;
    }

    @Override
    public String reopen() throws IOException {
        cluster.stopServers();
        if (lost.isEmpty()) {
            cluster.startServers();
            return "all servers were restarted; checking the cluster in a new process";
        }
        for (int server = 0; server < cluster.cluster().shape().servers(); server++) {
            if (!lost.contains(server)) {
                cluster.cluster().startServer(server);
            }
        }
        final String problem = cluster.cluster().awaitServing(START_TIMEOUT_MS, lost);
        if (!problem.isEmpty()) {
            throw new IOException("the servers that are left do not serve: " + problem);
        }
        return "the servers that are left were restarted; checking the cluster in a new process";
    }

    @Override
    public List<String> differences() throws IOException {
        return ClusterReplicas.stopAndCompare(cluster);
    }
}
