package org.rowankv.server.membership;

import java.util.function.LongConsumer;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.RandomSource;
import org.rowankv.server.configstore.ConfigurationStore;
import org.rowankv.topology.Configuration;

/**
 * A planned transfer of a shard from its primary to one of its backups: a request in the store, which the manager
 * performs while all servers run, also when the caller ends meanwhile.
 *
 * <p>Thread-safe; calls block on the store.
 */
public final class PrimaryTransfer {
    private static final long PATIENCE_NS = 60_000_000_000L;
    private static final long PAUSE_NS = 50_000_000;

    private final ClusterNodes nodes;
    private final Clock clock;
    private final LongConsumer park;

    /**
     * @param writer unique among all writers of the store
     * @param park waits so many ns
     */
    public PrimaryTransfer(
            ConfigurationStore store, String writer, RandomSource random, Clock clock, LongConsumer park) {
        this.nodes = new ClusterNodes(store, writer, random);
        this.clock = clock;
        this.park = park;
    }

    /**
     * Transfers the primary role of a shard to a backup, and waits until the roles are in force.
     *
     * @param newPrimary its number; −1: the first complete backup
     * @return the configuration stored then
     * @throws ClusterException if there is no such cluster or shard, the server is not a complete backup of it, or the
     *     manager has not done so in a minute
     * @throws org.rowankv.server.configstore.ConfigurationStoreException if the store is unreachable; whether the manager
     *     transfers is unknown then
     */
    public Configuration transfer(int shard, int newPrimary) {
        ask(shard, newPrimary);
        final long fromNs = clock.nanoTime();
        while (true) {
            final TransferRequest now = nodes.transfer(shard);
            if (now == null) {
                return configuration();
            }
            if (now.isRefused() && nodes.remove(now)) {
                throw refused(shard, now.refusal());
            }
            if (clock.nanoTime() - fromNs >= PATIENCE_NS && nodes.remove(now)) {
                throw refused(
                        shard, "the servers have not done so in a minute. Do they run? Is the shard being copied?");
            }
            park.accept(PAUSE_NS);
        }
    }

    private void ask(int shard, int newPrimary) {
        final Configuration present = configuration();
        if (shard < 0 || shard >= present.shardCount()) {
            throw new ClusterException("there is no shard " + shard + ": they are 0.." + (present.shardCount() - 1));
        }
        final int to = newPrimary < 0 ? firstBackup(present, shard) : newPrimary;
        if (to == present.shard(shard).primary() || !present.shard(shard).isComplete(to)) {
            throw refused(shard, "server " + to + " is no complete backup");
        }
        if (!nodes.askFor(shard, to)) {
            throw refused(shard, "another transfer of it is under way");
        }
    }

    private Configuration configuration() {
        final ClusterNodes.Stored stored = nodes.configuration();
        if (stored == null) {
            throw new ClusterException("there is no configuration of that cluster yet");
        }
        return stored.configuration();
    }

    private static ClusterException refused(int shard, String why) {
        return new ClusterException("shard " + shard + " cannot be transferred to that server: " + why);
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
