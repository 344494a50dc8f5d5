package org.rowankv.server.replication;

import java.util.Arrays;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.ShardAssignment;

/** The backups of every shard in the configuration in force, as plain arrays for the data path. Immutable. */
public final class BackupSets {
    private final int[][] backups;

    public BackupSets(Configuration configuration) {
        this(configuration, false);
    }

    private BackupSets(Configuration configuration, boolean onlyJoining) {
        backups = new int[configuration.shardCount()][];
        for (int shard = 0; shard < backups.length; shard++) {
            final ShardAssignment assignment = configuration.shard(shard);
            backups[shard] = onlyJoining
                    ? Arrays.stream(assignment.backups())
                            .filter(assignment::isJoining)
                            .toArray()
                    : assignment.backups();
        }
    }

    /** Only the backups that are catching up. */
    public static BackupSets joining(Configuration configuration) {
        return new BackupSets(configuration, true);
    }

    @SuppressWarnings("ReturnsArray") // read only, on the data path
    public int[] of(int shard) {
        return backups[shard];
    }
}
