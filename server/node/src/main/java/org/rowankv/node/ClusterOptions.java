package org.rowankv.node;

import picocli.CommandLine.Option;

/** Which cluster a command is about. */
final class ClusterOptions {
    private static final int PATIENCE_MS = 5000;

    @Option(
            names = "--zookeeper",
            required = true,
            paramLabel = "HOST:PORT,…",
            description = "servers of the ZooKeeper that holds the configuration")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private String zooKeeper;

    @Option(names = "--cluster", defaultValue = "rowan", description = "name of the cluster (${DEFAULT-VALUE})")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private String cluster;

    String cluster() {
        return cluster;
    }

    ZooKeeperConfigurationStore connect() {
        return new ZooKeeperConfigurationStore(zooKeeper, cluster, PATIENCE_MS);
    }
}
