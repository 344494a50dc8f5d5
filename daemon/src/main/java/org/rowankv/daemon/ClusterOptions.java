package org.rowankv.daemon;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.rowankv.daemon.zookeeper.ZooKeeperAuth;
import org.rowankv.daemon.zookeeper.ZooKeeperConfigurationStore;
import org.rowankv.server.configstore.ConfigurationStoreException;
import picocli.CommandLine.Option;

/** Options that select a cluster. */
final class ClusterOptions {
    private static final int TIMEOUT_MS = 5000;

    @Option(
            names = "--zookeeper",
            required = true,
            paramLabel = "HOST:PORT,…",
            description = "servers of the ZooKeeper that holds the configuration")
    private String zooKeeper;

    @Option(names = "--cluster", defaultValue = "rowan", description = "name of the cluster (${DEFAULT-VALUE})")
    private String cluster;

    @Option(
            names = "--zookeeper-auth-file",
            paramLabel = "FILE",
            description = "file with scheme:credential for ZooKeeper, if the cluster's servers have one")
    private @Nullable Path zooKeeperAuthFile;

    String cluster() {
        return cluster;
    }

    /** @throws ConfigurationStoreException if the options are invalid; the message states why */
    ZooKeeperConfigurationStore connect() {
        try {
            return new ZooKeeperConfigurationStore(
                    zooKeeper, cluster, TIMEOUT_MS, ZooKeeperAuth.read(zooKeeperAuthFile));
        } catch (IllegalArgumentException e) {
            throw new ConfigurationStoreException(String.valueOf(e.getMessage()), e);
        }
    }
}
