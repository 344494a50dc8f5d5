package org.rowankv.check.chaos;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rowankv.check.disturb.ClusterProcesses;
import org.rowankv.check.disturb.ClusterWatch;
import org.rowankv.check.disturb.CutNetwork;
import org.rowankv.check.disturb.CuttingProxy;
import org.rowankv.check.disturb.NetworkNode;
import org.rowankv.check.local.TemporaryCluster;
import org.rowankv.daemon.Launch;
import org.rowankv.daemon.local.LocalCluster;
import org.rowankv.server.membership.HostAndPort;

/**
 * A cluster of processes whose faults are injected, with two replicas. Its network consists of proxies if faults need that.
 * For one thread.
 */
final class ChaosCluster implements AutoCloseable {
    private static final int REPLICAS = 2;
    private static final String CAPACITY = "128m";
    static final int SHARDS = 12;
    private static final long WHOLE_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(120);

    private final TemporaryCluster cluster;
    private final CutNetwork network;
    private final ClusterProcesses processes;
    private final ClusterWatch watch;
    private final int leaseMs;

    private ChaosCluster(TemporaryCluster cluster, CutNetwork network, int leaseMs) {
        this.cluster = cluster;
        this.network = network;
        this.processes = new ClusterProcesses(cluster.cluster());
        this.watch = new ClusterWatch(cluster.cluster());
        this.leaseMs = leaseMs;
    }

    static ChaosCluster start(ChaosSettings settings) throws IOException {
        final Launch launch =
                settings.launch().withServerOptions("--shards=" + SHARDS, "--lease=" + settings.leaseMs());
        final AtomicReference<@Nullable LocalCluster> known = new AtomicReference<>();
        final CutNetwork network = new CutNetwork(settings.servers(), server -> {
            final LocalCluster cluster = known.get();
            return cluster == null ? Optional.empty() : cluster.serverProcess(server);
        });
        try {
            if (settings.faults().stream().noneMatch(ChaosFault::isOfNetwork)) {
                return new ChaosCluster(
                        TemporaryCluster.start("chaos", settings.servers(), REPLICAS, CAPACITY, launch),
                        network,
                        settings.leaseMs());
            }
            final List<CuttingProxy> clients = new ArrayList<>();
            final List<CuttingProxy> peers = new ArrayList<>();
            for (int server = 0; server < settings.servers(); server++) {
                clients.add(network.proxy(NetworkNode.server(server)));
                peers.add(network.proxy(NetworkNode.server(server)));
            }
            final CuttingProxy zooKeeper = network.proxy(NetworkNode.ZOOKEEPER);
            final Launch behindProxies = launch.withAdvertised(addresses(clients))
                    .withPeersAdvertised(addresses(peers))
                    .withServerOptions(
                            "--shards=" + SHARDS,
                            "--lease=" + settings.leaseMs(),
                            "--zookeeper=" + zooKeeper.address());
            final TemporaryCluster cluster =
                    TemporaryCluster.start("chaos", settings.servers(), REPLICAS, CAPACITY, behindProxies, made -> {
                        known.set(made);
                        zooKeeper.target(
                                HostAndPort.parse(made.zooKeeperAddress()).resolve());
                        for (int server = 0; server < settings.servers(); server++) {
                            clients.get(server).target(made.clientsOf(server).resolve());
                            peers.get(server).target(made.peersOf(server).resolve());
                        }
                    });
            return new ChaosCluster(cluster, network, settings.leaseMs());
        } catch (IOException | RuntimeException e) {
            network.close();
            throw e;
        }
    }

    private static List<String> addresses(List<CuttingProxy> proxies) {
        return proxies.stream().map(CuttingProxy::address).toList();
    }

    TemporaryCluster cluster() {
        return cluster;
    }

    ClusterProcesses processes() {
        return processes;
    }

    ClusterWatch watch() {
        return watch;
    }

    CutNetwork network() {
        return network;
    }

    /**
     * Waits until all servers serve with all replicas, for longer than a lease.
     *
     * @param says receives what is missing, every few seconds
     * @return empty, or what is missing after two minutes
     * @throws IOException if a server has ended by itself
     */
    String awaitWhole(Consumer<String> says) throws IOException {
        final long stableNs = TimeUnit.MILLISECONDS.toNanos(leaseMs + leaseMs / 2);
        return watch.awaitWhole(WHOLE_TIMEOUT_NS, stableNs, says, () -> {
            for (int server : processes.endedByThemselves()) {
                throw new IOException(ClusterProcesses.name(server) + " has ended by itself; its log is "
                        + cluster.cluster().logOf(server));
            }
        });
    }

    @Override
    public void close() throws IOException {
        network.heal();
        watch.close();
        try {
            cluster.close();
        } finally {
            network.close();
        }
    }
}
