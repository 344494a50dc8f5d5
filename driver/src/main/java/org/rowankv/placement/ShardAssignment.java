package org.rowankv.placement;

import java.util.Arrays;

/**
 * One shard's line in the configuration.
 *
 * @param epoch the shard's epoch: rises whenever its replica set or its primary's incarnation changes
 * @param primary the server that decides the order of the shard's writes
 * @param backups the servers that hold every acknowledged write too, complete or joining
 */
public record ShardAssignment(int epoch, int primary, int[] backups) {
    public ShardAssignment {
        backups = backups.clone();
        for (int backup : backups) {
            if (backup == primary) {
                throw new IllegalArgumentException("server " + primary + " is primary and backup of one shard");
            }
        }
    }

    @Override
    public int[] backups() {
        return backups.clone();
    }

    public int replicaCount() {
        return 1 + backups.length;
    }

    public boolean isReplica(int server) {
        if (primary == server) {
            return true;
        }
        for (int backup : backups) {
            if (backup == server) {
                return true;
            }
        }
        return false;
    }

    public ShardAssignment withEpoch(int newEpoch) {
        return new ShardAssignment(newEpoch, primary, backups);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof ShardAssignment that
                && epoch == that.epoch
                && primary == that.primary
                && Arrays.equals(backups, that.backups);
    }

    @Override
    public int hashCode() {
        return 31 * (31 * epoch + primary) + Arrays.hashCode(backups);
    }

    @Override
    public String toString() {
        return "epoch " + epoch + " primary " + primary + " backups " + Arrays.toString(backups);
    }
}
