package org.rowankv.server.membership;

import org.rowankv.runtime.RandomSource;
import org.rowankv.server.configstore.ConfigurationStore;
import org.rowankv.topology.Configuration;

/**
 * A planned transfer of a shard from its primary to one of its backups: a configuration with a higher term, stored by
 * compare-and-set. The servers detect it, drain pending operations, and restart together with the new roles. A primary
 * of the previous term serves nothing once its successor serves, since no server serves before all have restarted.
 *
 * <p>Thread-safe; calls block on the store.
 */
public final class PrimaryTransfer {
    private final ClusterNodes nodes;

    /** @param writer unique among all writers of the store */
    public PrimaryTransfer(ConfigurationStore store, String writer, RandomSource random) {
        this.nodes = new ClusterNodes(store, writer, random);
    }

    /**
     * Transfers the primary role of a shard to a backup.
     *
     * @param newPrimary its number; −1: the first complete backup
     * @return the stored configuration
     * @throws ClusterException if there is no such cluster or shard, or the server is not a complete backup of it
     * @throws org.rowankv.server.configstore.ConfigurationStoreException if the store is unreachable
     */
    public Configuration transfer(int shard, int newPrimary) {
        while (true) {
            final ClusterNodes.Stored stored = nodes.configuration();
            if (stored == null) {
                throw new ClusterException("there is no configuration of that cluster yet");
            }
            final Configuration found = stored.configuration();
            if (shard < 0 || shard >= found.shardCount()) {
                throw new ClusterException("there is no shard " + shard + ": they are 0.." + (found.shardCount() - 1));
            }
            final Configuration next;
            try {
                next = found.swapped(shard, newPrimary < 0 ? firstBackup(found, shard) : newPrimary);
            } catch (IllegalArgumentException e) {
                throw new ClusterException(
                        "shard " + shard + " cannot be transferred to that server: " + e.getMessage());
            }
            if (nodes.decide(next, stored.version())) {
                return next;
            }
        }
    }

    private static int firstBackup(Configuration configuration, int shard) {
        for (int backup : configuration.shard(shard).backups()) {
            if (configuration.shard(shard).isComplete(backup)) {
                return backup;
            }
        }
        throw new ClusterException("shard " + shard + " has no complete backup");
    }
}
