package org.rowankv.check.cluster;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.rowankv.check.area.AreaComparison;
import org.rowankv.check.area.AreaContents;
import org.rowankv.check.local.TemporaryCluster;
import org.rowankv.runtime.SecureSeed;
import org.rowankv.server.configstore.ConfigurationStore;
import org.rowankv.server.membership.ClusterView;
import org.rowankv.topology.Configuration;

/** Comparison of the replicas of a cluster, whose servers have separate directories, by their files alone. */
public final class ClusterReplicas {
    private ClusterReplicas() {}

    /** Stops the servers cleanly, and compares those of the members; returns a line for each difference. */
    public static List<String> stopAndCompare(TemporaryCluster cluster) throws IOException {
        final Configuration configuration = configuration(cluster);
        cluster.stopServers();
        final List<AreaContents> areas = new ArrayList<>();
        for (int server = 0; server < configuration.serverCount(); server++) {
            areas.add(
                    configuration.isMember(server)
                            ? AreaContents.read(cluster.cluster().dataOf(server), server)
                            : AreaContents.together(List.of()));
        }
        return AreaComparison.differences(areas, configuration);
    }

    /** As stored now. */
    public static Configuration configuration(TemporaryCluster cluster) throws IOException {
        try (ConfigurationStore store = cluster.cluster().connect()) {
            final ClusterView view = ClusterView.read(store, SecureSeed.source());
            final Configuration stored = view == null ? null : view.configuration();
            if (stored == null) {
                throw new IOException("the cluster in " + cluster.dir() + " has no configuration");
            }
            return stored;
        }
    }
}
