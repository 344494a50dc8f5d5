package org.rowankv.check.cluster;

import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import javax.cache.CacheManager;
import org.rowankv.check.local.TemporaryCluster;
import org.rowankv.daemon.local.LocalCluster;
import org.rowankv.samples.quickstart.QuickstartStore;

/** A store of server processes; all are restarted, to reduce the store to its files. */
public record ClusterQuickstartStore(TemporaryCluster cluster) implements QuickstartStore {
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
        cluster.startServers();
        return "all servers were restarted; checking the cluster in a new process";
    }

    @Override
    public List<String> differences() throws IOException {
        return ClusterReplicas.stopAndCompare(cluster);
    }
}
