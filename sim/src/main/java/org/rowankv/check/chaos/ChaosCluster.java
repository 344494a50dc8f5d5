package org.rowankv.check.chaos;

import java.io.IOException;
import java.io.UncheckedIOException;
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
import org.rowankv.check.disturb.SmallDisks;
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
    private static final int CAPACITY_MB = 128;
    /** Of a small disk, beside the capacity. */
    private static final int SPARE_MB = 32;

    static final int SHARDS = 12;
    private static final long WHOLE_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(120);

    private final TemporaryCluster cluster;
    private final CutNetwork network;
    private final @Nullable SmallDisks disks;
    private final ClusterProcesses processes;
    private final ClusterWatch watch;
    private final int leaseMs;

    private ChaosCluster(TemporaryCluster cluster, CutNetwork network, @Nullable SmallDisks disks, int leaseMs) {
        this.cluster = cluster;
        this.network = network;
        this.disks = disks;
        this.processes = new ClusterProcesses(cluster.cluster());
        this.watch = new ClusterWatch(cluster.cluster());
        this.leaseMs = leaseMs;
    }

    static ChaosCluster start(ChaosSettings settings) throws IOException {
        final AtomicReference<@Nullable LocalCluster> known = new AtomicReference<>();
        final AtomicReference<@Nullable SmallDisks> disks = new AtomicReference<>();
        final CutNetwork network = new CutNetwork(settings.servers(), server -> {
            final LocalCluster cluster = known.get();
            return cluster == null ? Optional.empty() : cluster.serverProcess(server);
        });
        boolean serves = false;
        try {
            final Proxies proxies = settings.faults().stream().anyMatch(ChaosFault::isOfNetwork)
                    ? Proxies.of(network, settings.servers())
                    : null;
            final Launch plain =
                    settings.launch().withServerOptions("--shards=" + SHARDS, "--lease=" + settings.leaseMs());
            final TemporaryCluster cluster = TemporaryCluster.start(
                    "chaos",
                    settings.servers(),
                    REPLICAS,
                    CAPACITY_MB + "m",
                    proxies == null ? plain : proxies.before(plain),
                    made -> {
                        known.set(made);
                        if (proxies != null) {
                            proxies.target(made);
                        }
                        if (settings.faults().contains(ChaosFault.FULL_DISK)) {
                            disks.set(mounted(made));
                        }
                    });
            serves = true;
            return new ChaosCluster(cluster, network, disks.get(), settings.leaseMs());
        } finally {
            if (!serves) {
                network.close();
                final SmallDisks mounted = disks.get();
                if (mounted != null) {
                    mounted.close();
                }
            }
        }
    }

    private static SmallDisks mounted(LocalCluster cluster) {
        try {
            return new SmallDisks(cluster, CAPACITY_MB + SPARE_MB);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** By server: its proxies for clients and for servers; and one for ZooKeeper. */
    private record Proxies(List<CuttingProxy> clients, List<CuttingProxy> peers, CuttingProxy zooKeeper) {
        static Proxies of(CutNetwork network, int servers) throws IOException {
            final List<CuttingProxy> clients = new ArrayList<>();
            final List<CuttingProxy> peers = new ArrayList<>();
            for (int server = 0; server < servers; server++) {
                clients.add(network.proxy(NetworkNode.server(server)));
                peers.add(network.proxy(NetworkNode.server(server)));
            }
            return new Proxies(clients, peers, network.proxy(NetworkNode.ZOOKEEPER));
        }

        Launch before(Launch launch) {
            final List<String> options = new ArrayList<>(launch.serverOptions());
            options.add("--zookeeper=" + zooKeeper.address());
            return launch.withAdvertised(addresses(clients))
                    .withPeersAdvertised(addresses(peers))
                    .withServerOptions(options.toArray(new String[0]));
        }

        void target(LocalCluster cluster) {
            zooKeeper.target(HostAndPort.parse(cluster.zooKeeperAddress()).resolve());
            for (int server = 0; server < clients.size(); server++) {
                clients.get(server).target(cluster.clientsOf(server).resolve());
                peers.get(server).target(cluster.peersOf(server).resolve());
            }
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

    /** Null unless disks are to be filled. */
    @Nullable
    SmallDisks disks() {
        return disks;
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
            if (disks != null) {
                cluster.cluster().stopServers(); // they use them
                disks.close();
            }
            cluster.close();
        } finally {
            network.close();
        }
    }
}
