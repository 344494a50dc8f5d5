package org.rowankv.server.membership;

import org.rowankv.runtime.RandomSource;
import org.rowankv.server.configstore.ConfigurationStore;
import org.rowankv.topology.Configuration;

/**
 * A planned swap of a shard's primary with one of its backups: a configuration with a higher term, stored by
 * compare-and-set. The servers see it, let what is under way end, and start together with the new roles; nothing is served
 * by a primary of the term before once its successor serves, since nobody serves before all servers have started anew.
 *
 * <p>For any thread; calls block on the store.
 */
public final class PrimaryTransfer {
    private final ClusterNodes nodes;

    /** @param writer unique among all that write to the store */
    public PrimaryTransfer(ConfigurationStore store, String writer, RandomSource random) {
        this.nodes = new ClusterNodes(store, writer, random);
    }

    /**
     * Swaps the primary of a shard with a backup.
     *
     * @param newPrimary its number; −1: the first complete backup
     * @return the configuration that is stored now
     * @throws ClusterException if there is no such cluster or shard, or the server is no complete backup of it
     * @throws org.rowankv.server.configstore.ConfigurationStoreException if the store is away
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
                throw new ClusterException("shard " + shard + " cannot be given to that server: " + e.getMessage());
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
