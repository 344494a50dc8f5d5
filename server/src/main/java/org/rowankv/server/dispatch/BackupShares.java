package org.rowankv.server.dispatch;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.rowankv.server.shard.Roles;
import org.rowankv.server.shard.ShardPrimary;

/**
 * The slots of one event loop that wait for each backup. Those that wait for a dead one are free again only after its
 * exclusion. So a backup may hold at most half of the slots while this server is the primary of a shard without it:
 * that shard goes on meanwhile. A loop with one slot has no half. For one thread; allocates only for new roles.
 */
final class BackupShares {
    static final int NONE = -1;

    private static final int[] NO_BACKUPS = {};

    private final int most;
    /** The backups of each slot's mutation. */
    private final int[][] backups;
    /** By server. */
    private int[] held = {};

    private @Nullable Roles known;
    /** By server: whether a shard of this server is without it. */
    private boolean[] limited = {};

    BackupShares(int slots) {
        this.most = Math.max(1, slots / 2);
        this.backups = new int[slots][];
        Arrays.fill(backups, NO_BACKUPS);
    }

    /** A backup of the shard that has all its slots; {@link #NONE} if a mutation may begin. */
    int findFull(Roles roles, int shard) {
        if (roles != known) {
            learn(roles);
        }
        for (int backup : roles.backups(shard)) {
            if (limited[backup] && held[backup] >= most) {
                return backup;
            }
        }
        return NONE;
    }

    private void learn(Roles roles) {
        known = roles;
        held = Arrays.copyOf(held, Math.max(held.length, roles.serverCount()));
        limited = new boolean[held.length];
        for (int server = 0; server < roles.serverCount(); server++) {
            for (ShardPrimary primary : roles.primaries()) {
                limited[server] |= !roles.isBackup(primary.replica().shardId(), server);
            }
        }
    }

    /** After {@link #findFull} for the same shard. */
    void take(int slot, Roles roles, int shard) {
        backups[slot] = roles.backups(shard);
        for (int backup : backups[slot]) {
            held[backup]++;
        }
    }

    /** The slot's mutation is complete. */
    void free(int slot) {
        for (int backup : backups[slot]) {
            held[backup]--;
        }
        backups[slot] = NO_BACKUPS;
    }
}
