package org.rowankv.server.cluster;

import java.util.function.Consumer;
import java.util.function.IntFunction;
import org.rowankv.rdma.Fabric;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.RandomSource;
import org.rowankv.runtime.agent.Scheduling;
import org.rowankv.server.checkpoint.CheckpointStore;
import org.rowankv.server.checkpoint.ServerCheckpoints;
import org.rowankv.server.configstore.ConfigurationStore;
import org.rowankv.server.directory.DataDirectory;
import org.rowankv.server.engine.ServerSettings;
import org.rowankv.server.membership.ServerAddresses;
import org.rowankv.server.recovery.RecoveredServer;

/**
 * Environment of a cluster server, apart from its settings.
 *
 * @param store of this cluster only; its owner closes it after the server
 * @param fabric to the other servers; closed by its owner too
 * @param addresses of the other servers, for the fabric
 * @param scanThreads threads that read the area in parallel
 * @param door endpoint for clients
 * @param homes access to the data directory
 * @param checkpoints storage of the checkpoints of the server with that number
 * @param tuning of the server's process values, applied in each of its starts
 */
public record ClusterContext(
        ConfigurationStore store,
        Fabric fabric,
        ServerAddresses addresses,
        Clock clock,
        RandomSource random,
        Scheduling scheduling,
        ErrorLog errors,
        int scanThreads,
        ClientEndpoint door,
        DataDirectory.Opener homes,
        IntFunction<CheckpointStore> checkpoints,
        Consumer<ServerSettings.Builder> tuning) {

    /** The checkpoints of a server that reads its area, for one term of its roles. */
    ServerCheckpoints checkpointsOf(RecoveredServer read, long hashSeed, long intervalMs) {
        return new ServerCheckpoints(
                checkpoints.apply(read.serverId()), read.segments(), read.replicas(), hashSeed, intervalMs * 1_000_000);
    }
}
