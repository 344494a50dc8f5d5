package org.rowankv.server.cluster;

import java.util.function.Consumer;
import org.rowankv.rdma.Fabric;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.RandomSource;
import org.rowankv.runtime.agent.Scheduling;
import org.rowankv.server.configstore.ConfigurationStore;
import org.rowankv.server.directory.DataDirectory;
import org.rowankv.server.engine.ServerSettings;
import org.rowankv.server.membership.ServerAddresses;

/**
 * What a server of a cluster stands on, apart from its settings.
 *
 * @param store of the cluster alone; the owner's, who closes it after the server
 * @param fabric that reaches the other servers; the owner's too
 * @param addresses that the fabric asks
 * @param scanThreads that read the area at the same time
 * @param door where clients come in
 * @param homes where its data are
 * @param tuning of the server's process values, asked in each of its starts
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
        DataDirectory.CacheBinding homes,
        Consumer<ServerSettings.Builder> tuning) {}
