package org.rowankv.topology;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The placement: the term, the servers with their incarnations, and the assignment of every shard. Immutable; a change
 * is a new configuration with a higher term (terms only grow; no server adopts a lower one).
 *
 * @param clusterId random, drawn when the cluster is created
 * @param hashSeed the seed of {@link KeyHash}; part of the format on disk
 * @param term the term of this configuration, ≥ 1
 * @param incarnations by server id: the incarnation of that server with roles in this term
 * @param shards by shard id
 */
public record Configuration(
        long clusterId, long hashSeed, long term, List<Long> incarnations, List<ShardAssignment> shards) {
    public Configuration {
        incarnations = List.copyOf(incarnations);
        shards = List.copyOf(shards);
        if (shards.isEmpty() || shards.size() > ShardMap.MAX_SHARDS) {
            throw new IllegalArgumentException(
                    "a configuration has 1.." + ShardMap.MAX_SHARDS + " shards, not " + shards.size());
        }
    }

    public int serverCount() {
        return incarnations.size();
    }

    public int shardCount() {
        return shards.size();
    }

    /** Replicas of shards on the server that holds most of them. */
    public int mostReplicas() {
        int most = 0;
        for (int server = 0; server < serverCount(); server++) {
            int held = 0;
            for (int shard = 0; shard < shardCount(); shard++) {
                held += shard(shard).isReplica(server) ? 1 : 0;
            }
            most = Math.max(most, held);
        }
        return most;
    }

    public ShardAssignment shard(int shard) {
        return shards.get(shard);
    }

    /** First distribution: shard i has its primary on server i mod n and its backups on the servers that follow. */
    public static Configuration initial(
            long clusterId, long hashSeed, int servers, int replicas, int shardCount, List<Long> incarnations) {
        if (replicas < 1 || replicas > servers) {
            throw new IllegalArgumentException(
                    "replicas must be 1.." + servers + " (the number of servers), not " + replicas);
        }
        final List<ShardAssignment> shards = new ArrayList<>(shardCount);
        for (int shard = 0; shard < shardCount; shard++) {
            final int[] backups = new int[replicas - 1];
            for (int i = 0; i < backups.length; i++) {
                // Turn the backups' order too, so that a server's shards do not all share one first backup.
                backups[i] = (shard + 1 + (shard / servers + i) % (servers - 1)) % servers;
            }
            shards.add(new ShardAssignment(1, shard % servers, backups));
        }
        return new Configuration(clusterId, hashSeed, 1, incarnations, shards);
    }

    /** The configuration of a cold start: a higher term, new incarnations, and a new epoch for every shard. */
    public Configuration coldStart(List<Long> newIncarnations) {
        return coldStart(newIncarnations, Set.of());
    }

    /**
     * The configuration of a cold start before which some servers lost what they held: their replicas are joining, as
     * those that were joining before are, and every shard's primary is a server with a complete replica; the one that
     * {@link #initial} gave it to, if that has one.
     *
     * @throws IllegalArgumentException if a shard has no complete replica left, see {@link #shardsLostWithout}
     */
    public Configuration coldStart(List<Long> newIncarnations, Set<Integer> lost) {
        return coldStart(newIncarnations, lost, Set.of());
    }

    /**
     * As above, where some servers that lost nothing have incomplete replicas all the same: these are joining too, but of
     * shards of which no other complete replica is left.
     */
    public Configuration coldStart(List<Long> newIncarnations, Set<Integer> lost, Set<Integer> incomplete) {
        final Set<Integer> notCounted = new HashSet<>(lost);
        notCounted.addAll(incomplete);
        final List<ShardAssignment> next = new ArrayList<>(shards.size());
        for (int shard = 0; shard < shards.size(); shard++) {
            final ShardAssignment found = shards.get(shard);
            final ShardAssignment started = found.withEpoch(found.epoch() + 1);
            final int preferred = shard % incarnations.size();
            final ShardAssignment complete = started.without(notCounted, preferred);
            final ShardAssignment left = complete == null ? started.without(lost, preferred) : complete;
            if (left == null) {
                throw new IllegalArgumentException("shard " + shard + " has no complete replica without " + lost);
            }
            next.add(left);
        }
        return new Configuration(clusterId, hashSeed, term + 1, newIncarnations, next);
    }

    /** After all servers have started anew and lost nothing: roles stay, every shard has a new epoch. A higher term. */
    public Configuration restarted(List<Long> newIncarnations) {
        final List<ShardAssignment> next = new ArrayList<>(shards.size());
        shards.forEach(shard -> next.add(shard.withEpoch(shard.epoch() + 1)));
        return new Configuration(clusterId, hashSeed, term + 1, newIncarnations, next);
    }

    /**
     * With another primary of a shard; the one it has now is a backup. A higher term, and a new epoch of that shard.
     *
     * @throws IllegalArgumentException if that server is no complete backup of the shard
     */
    public Configuration swapped(int shard, int newPrimary) {
        final List<ShardAssignment> next = new ArrayList<>(shards);
        next.set(shard, shards.get(shard).swapped(newPrimary));
        return new Configuration(clusterId, hashSeed, term + 1, incarnations, next);
    }

    /** The shards of which no complete replica is left without those servers. */
    public List<Integer> shardsLostWithout(Set<Integer> lost) {
        final List<Integer> without = new ArrayList<>();
        for (int shard = 0; shard < shards.size(); shard++) {
            if (shards.get(shard).without(lost, 0) == null) {
                without.add(shard);
            }
        }
        return without;
    }

    /**
     * The configuration after all replicas of a joining server became complete: a higher term. Epochs stay, because
     * neither replica sets nor primaries changed.
     */
    public Configuration joined(int server) {
        final List<ShardAssignment> next = new ArrayList<>(shards.size());
        shards.forEach(shard -> next.add(shard.joined(server)));
        return new Configuration(clusterId, hashSeed, term + 1, incarnations, next);
    }

    /**
     * With a new epoch of some shards, whose versions come to the end of the present one. A higher term; roles stay.
     */
    public Configuration renewed(Collection<Integer> ofShards) {
        final List<ShardAssignment> next = new ArrayList<>(shards);
        ofShards.forEach(shard ->
                next.set(shard, shards.get(shard).withEpoch(shards.get(shard).epoch() + 1)));
        return new Configuration(clusterId, hashSeed, term + 1, incarnations, next);
    }

    /** A copy with a higher term, for a coordinated restart of all servers, in which each shard gets a new epoch. */
    public Configuration superseded() {
        return new Configuration(clusterId, hashSeed, term + 1, incarnations, shards);
    }

    /** Whether any replica of that server is joining. */
    public boolean isJoining(int server) {
        return shards.stream().anyMatch(shard -> shard.isJoining(server));
    }

    /** The same with other incarnations. */
    public Configuration withIncarnations(List<Long> newIncarnations) {
        return new Configuration(clusterId, hashSeed, term, newIncarnations, shards);
    }
}
