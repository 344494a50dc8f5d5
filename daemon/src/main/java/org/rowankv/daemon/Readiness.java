package org.rowankv.daemon;

import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.rowankv.server.cluster.ClusterServer;
import org.rowankv.server.cluster.StartPhase;
import org.rowankv.server.engine.Server;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.ShardAssignment;

/**
 * Whether a server serves its shards, for supervisors: it holds a lease, the shards whose primary it is are open, and its
 * replicas are complete. A server that waits for replicas while shards lack some is not ready, so a supervisor that
 * restarts one server after the other goes on only when that costs no shard its last complete replica.
 */
final class Readiness {
    static final String READY = "ready";
    private static final String NOT = "not ready: ";

    private Readiness() {}

    /** {@value #READY}, or {@code not ready}, and why. */
    static String of(ClusterServer server, int replicas) {
        final Configuration inForce = server.inForce();
        final Server serving = server.server();
        if (inForce == null || serving == null) {
            return NOT + server.phase().name().toLowerCase(Locale.ROOT);
        }
        final String lack = lack(
                inForce,
                server.serverId(),
                replicas,
                server.isClosing(),
                server.mayAnswer(),
                serving.roleChanges().unopenedShards());
        return lack.isEmpty() ? READY : NOT + lack;
    }

    /** Whether its process is of use: false only when it cannot go on by itself. */
    static boolean isLive(@Nullable ClusterServer server) {
        return server == null || server.phase() != StartPhase.FAILED;
    }

    /** What a server in the phase {@link StartPhase#SERVING} lacks to be ready; empty if nothing. */
    static String lack(
            Configuration inForce, int server, int replicas, boolean isClosing, boolean mayAnswer, int unopenedShards) {
        if (isClosing) {
            return "stopping";
        }
        if (!mayAnswer) {
            return "no lease";
        }
        if (unopenedShards > 0) {
            return "shards to open=" + unopenedShards;
        }
        final long joining = inForce.shards().stream()
                .filter(shard -> shard.isJoining(server))
                .count();
        if (joining > 0) {
            return "replicas joining=" + joining;
        }
        final boolean hasNone = inForce.shards().stream().noneMatch(shard -> shard.isReplica(server));
        return hasNone && inForce.shards().stream().anyMatch(shard -> complete(shard) < replicas)
                ? "waits for replicas"
                : "";
    }

    private static int complete(ShardAssignment shard) {
        return shard.replicaCount() - shard.joining().size();
    }
}
