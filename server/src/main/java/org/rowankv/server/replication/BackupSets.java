package org.rowankv.server.replication;

import org.rowankv.placement.Configuration;

/** The backups of every shard in the configuration in force, as plain arrays for the data path. Immutable. */
public final class BackupSets {
    private final int[][] backups;

    public BackupSets(Configuration configuration) {
        backups = new int[configuration.shardCount()][];
        for (int shard = 0; shard < backups.length; shard++) {
            backups[shard] = configuration.shard(shard).backups();
        }
    }

    @SuppressWarnings("ReturnsArray") // read only, on the data path
    public int[] of(int shard) {
        return backups[shard];
    }
}
