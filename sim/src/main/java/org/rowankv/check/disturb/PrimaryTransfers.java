package org.rowankv.check.disturb;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.rowankv.check.local.TemporaryCluster;
import org.rowankv.runtime.RandomSource;
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
 * Transfers of primaries; detects when all servers serve by the newest configuration. Confined to one thread at a time.
 */
final class PrimaryTransfers implements AutoCloseable {
    private static final long LOOK_NS = TimeUnit.MILLISECONDS.toNanos(50);
    private static final long STORE_PATIENCE_NS = TimeUnit.SECONDS.toNanos(120);

    private final TemporaryCluster cluster;
    private final RandomSource random;
    private final ConfigurationStore store;
    private final PrimaryTransfer transfer;
    /** Term of the last transfer; serving servers have it, or a later one. */
    private volatile long storedTerm;

    PrimaryTransfers(TemporaryCluster cluster, RandomSource random) {
        this.cluster = cluster;
        this.random = random;
        this.store = cluster.cluster().connect();
        this.transfer = new PrimaryTransfer(
                store,
                "verify-" + Long.toHexString(SecureSeed.next()),
                SecureSeed.source(),
                SystemClock.INSTANCE,
                ThreadScheduling.INSTANCE::park);
    }

    /** Gives about half of the shards another primary; false if the configuration store was unavailable. */
    boolean swapAboutHalf() throws IOException {
        final int shards;
        try {
            shards = configuration().shardCount();
        } catch (ConfigurationStoreException e) {
            return false;
        }
        boolean any = false;
        final int first = random.nextInt(shards);
        for (int i = 0; i < shards; i++) {
            if (i == 0 || random.nextInt(2) == 0) {
                try {
                    storedTerm = transfer.transfer((first + i) % shards, -1).term();
                    any = true;
                } catch (ConfigurationStoreException e) {
                    return any; // unavailable for a moment: completed transfers count
                } catch (ClusterException e) {
                    continue; // no backup of it is complete now, as while a killed server restarts
                }
            }
        }
        return any;
    }

    private Configuration configuration() throws IOException {
        final ClusterView view = ClusterView.read(store, SecureSeed.source());
        final Configuration configuration = view == null ? null : view.configuration();
        if (configuration == null) {
            throw new IOException("the cluster in " + cluster.dir() + " has no configuration");
        }
        return configuration;
    }

    /** Waits until the configuration store replies and all servers serve: after a transfer in its term. */
    void awaitAllServe() throws IOException {
        final long fromNs = SystemClock.INSTANCE.nanoTime();
        boolean serve = false;
        while (!serve) {
            cluster.awaitServing();
            serve = true;
            for (int server = 0; server < cluster.cluster().shape().servers(); server++) {
                serve &= Long.parseLong(cluster.cluster().statusOf(server).getOrDefault("term", "0")) >= storedTerm;
            }
            try {
                serve &= configuration().term() >= storedTerm;
            } catch (ConfigurationStoreException e) {
                if (SystemClock.INSTANCE.nanoTime() - fromNs >= STORE_PATIENCE_NS) {
                    throw new IOException("the configuration store does not reply any more: " + e.getMessage(), e);
                }
                serve = false;
            }
            if (!serve) {
                LockSupport.parkNanos(this, LOOK_NS);
            }
        }
    }

    @Override
    public void close() {
        store.close();
    }
}
