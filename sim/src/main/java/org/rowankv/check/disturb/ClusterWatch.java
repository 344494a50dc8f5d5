package org.rowankv.check.disturb;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rowankv.daemon.local.ClusterLack;
import org.rowankv.daemon.local.LocalCluster;
import org.rowankv.runtime.SecureSeed;
import org.rowankv.runtime.SystemClock;
import org.rowankv.runtime.agent.ThreadScheduling;
import org.rowankv.server.configstore.ConfigurationStore;
import org.rowankv.server.configstore.ConfigurationStoreException;
import org.rowankv.server.membership.ClusterException;
import org.rowankv.server.membership.ClusterView;
import org.rowankv.server.membership.PrimaryTransfer;
import org.rowankv.topology.Configuration;

/**
 * Observes whether a cluster is whole: all servers are members and serve in their newest incarnation, and each shard has
 * all its replicas, complete. For one thread.
 */
public final class ClusterWatch implements AutoCloseable {
    private static final long LOOK_NS = TimeUnit.MILLISECONDS.toNanos(50);
    private static final long SAY_NS = TimeUnit.SECONDS.toNanos(5);

    private final LocalCluster cluster;
    private final ConfigurationStore store;
    private final PrimaryTransfer transfers;

    public ClusterWatch(LocalCluster cluster) {
        this.cluster = cluster;
        this.store = cluster.connect();
        this.transfers = new PrimaryTransfer(
                store,
                "watch-" + Long.toHexString(SecureSeed.next()),
                SecureSeed.source(),
                SystemClock.INSTANCE,
                ThreadScheduling.INSTANCE::park);
    }

    /**
     * The stored configuration.
     *
     * @throws IOException if there is none, or the configuration store is away
     */
    public Configuration configuration() throws IOException {
        final Configuration configuration = view().configuration();
        if (configuration == null) {
            throw new IOException("the cluster has no configuration");
        }
        return configuration;
    }

    private ClusterView view() throws IOException {
        try {
            final @Nullable ClusterView view = ClusterView.read(store, SecureSeed.source());
            if (view == null) {
                throw new IOException("there is no cluster");
            }
            return view;
        } catch (ConfigurationStoreException e) {
            throw new IOException("ZooKeeper is away: " + e.getMessage(), e);
        }
    }

    /** What the cluster lacks, in a few words; empty if it is whole. */
    public String lack() {
        final ClusterView view;
        try {
            view = view();
        } catch (IOException e) {
            return String.valueOf(e.getMessage());
        }
        return ClusterLack.of(cluster, view);
    }

    /**
     * Transfers half of the primaries of a server that has all of them; returns whether there is one.
     */
    public boolean spreadPrimaries() throws IOException {
        final Configuration configuration = configuration();
        final int only = configuration.shard(0).primary();
        if (configuration.primariesOf(only).size() < configuration.shardCount()) {
            return false;
        }
        final int unused = transferPrimaries(only, 2);
        return true;
    }

    /**
     * Transfers primaries of a server, one after the other, as long as that comes about; returns how many.
     *
     * @param every so many of them are transferred: 1 for all
     */
    public int transferPrimaries(int server, int every) throws IOException {
        final List<Integer> shards = configuration().primariesOf(server);
        int count = 0;
        while (count * every < shards.size() && transfer(shards.get(count * every))) {
            count++;
        }
        return count;
    }

    /** Transfers a shard to its first complete backup; false if that does not come about. */
    public boolean transfer(int shard) {
        try {
            final Configuration unused = transfers.transfer(shard, -1);
            return true;
        } catch (ConfigurationStoreException | ClusterException e) {
            return false;
        }
    }

    /**
     * Waits until the cluster is whole, and remains so.
     *
     * @param stableNs how long it must remain whole
     * @param says receives what it lacks, every few seconds
     * @param goesOn checked between looks; an exception of it ends the wait
     * @return empty, or what it still lacks after that time
     */
    public String awaitWhole(long timeoutNs, long stableNs, Consumer<String> says, Check goesOn) throws IOException {
        final long fromNs = SystemClock.INSTANCE.nanoTime();
        long saidNs = fromNs;
        long wholeNs = 0;
        boolean whole = false;
        while (true) {
            goesOn.check();
            final String lack = lack();
            final long nowNs = SystemClock.INSTANCE.nanoTime();
            if (lack.isEmpty()) {
                wholeNs = whole ? wholeNs : nowNs;
                whole = true;
                if (nowNs - wholeNs >= stableNs) {
                    return "";
                }
            } else {
                whole = false;
                if (nowNs - fromNs >= timeoutNs) {
                    return lack;
                }
                if (nowNs - saidNs >= SAY_NS) {
                    says.accept(lack);
                    saidNs = nowNs;
                }
            }
            LockSupport.parkNanos(this, LOOK_NS);
        }
    }

    /** A condition for going on. */
    @FunctionalInterface
    public interface Check {
        /** @throws IOException if it makes no sense to go on; the message says why */
        void check() throws IOException;
    }

    @Override
    public void close() {
        store.close();
    }
}
