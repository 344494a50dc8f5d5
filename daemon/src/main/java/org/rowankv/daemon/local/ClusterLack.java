package org.rowankv.daemon.local;

import java.util.Map;
import org.rowankv.server.membership.ClusterView;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.ShardAssignment;

/**
 * What a local cluster lacks to be whole: all servers are members and serve in their newest incarnation, and each shard
 * has all its replicas, complete.
 */
public final class ClusterLack {
    private ClusterLack() {}

    /** In a few words; empty if it is whole. */
    public static String of(LocalCluster cluster, ClusterView view) {
        final Configuration configuration = view.configuration();
        if (configuration == null) {
            return "no configuration";
        }
        final StringBuilder lack = new StringBuilder();
        for (int server = 0; server < view.members().size(); server++) {
            final String state = stateOf(cluster, view, configuration, server);
            if (!state.isEmpty()) {
                lack.append(lack.isEmpty() ? "" : ", ")
                        .append(view.members().get(server).name())
                        .append(' ')
                        .append(state);
            }
        }
        final long joining = configuration.shards().stream()
                .mapToLong(shard -> shard.joining().size())
                .sum();
        final long degraded = configuration.shards().stream()
                .filter(shard -> complete(shard) < view.replicas())
                .count();
        if (joining + degraded > 0) {
            lack.append(lack.isEmpty() ? "" : ", ").append("joining=" + joining + " degraded=" + degraded);
        }
        return lack.toString();
    }

    /** Replicas of a shard that are complete. */
    public static int complete(ShardAssignment shard) {
        return shard.replicaCount() - shard.joining().size();
    }

    private static String stateOf(LocalCluster cluster, ClusterView view, Configuration configuration, int server) {
        if (cluster.serverProcess(server).isEmpty()) {
            return "down";
        }
        if (!configuration.isMember(server)) {
            return "excluded";
        }
        if (!view.members().get(server).hasRoles()) {
            return "returning";
        }
        final Map<String, String> status = cluster.statusNow(server);
        return status.getOrDefault("health", "away").equals("serving") ? "" : status.getOrDefault("health", "away");
    }
}
