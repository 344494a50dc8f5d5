package org.rowankv.check.chaos;

import java.util.List;

/**
 * What one fault cost.
 *
 * @param text for people
 * @param roles by shard
 * @param gapsNs by shard: the longest time without a completed write and read
 * @param readGapsNs by shard: the longest time without a completed read
 * @param wholeNs from the fault until the cluster was whole again
 * @param lack what it still lacked after the longest wait; empty if it was whole
 */
record FaultOutcome(
        ChaosRound round,
        String text,
        List<Role> roles,
        List<Long> gapsNs,
        List<Long> readGapsNs,
        long wholeNs,
        String lack) {
    /** What the fault hit of a shard. */
    enum Role {
        /** Its primary. */
        AFFECTED,
        /** A backup: writes wait until it is excluded. */
        BACKUP,
        /** None of its replicas. */
        UNAFFECTED
    }

    FaultOutcome {
        roles = List.copyOf(roles);
        gapsNs = List.copyOf(gapsNs);
        readGapsNs = List.copyOf(readGapsNs);
    }

    /** The longest gap of shards of a role, in ms; −1 if there is no such shard. */
    long longestMs(Role role) {
        long longest = -1;
        for (int shard = 0; shard < roles.size(); shard++) {
            if (roles.get(shard) == role) {
                longest = Math.max(longest, gapsNs.get(shard) / 1_000_000);
            }
        }
        return longest;
    }
}
