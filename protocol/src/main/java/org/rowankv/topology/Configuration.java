package org.rowankv.topology;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The placement: the term, the servers with their incarnations, and the assignment of every shard. Immutable; a change
 * is a new configuration with a higher term (terms only grow; no server adopts a lower one).
 *
 * @param clusterId random, drawn when the cluster is created
 * @param hashSeed the seed of {@link KeyHash}; part of the format on disk
 * @param term the term of this configuration, ≥ 1
 * @param incarnations by server id: the incarnation of that server with roles in this term
 * @param shards by shard id
 * @param startTerm the term of the last common start, ≤ {@code term}; later terms changed roles of running servers
 * @param manager the server that alone stores the next configuration, one that is not excluded; {@link #NO_MANAGER} if
 *     the next one begins with a common start
 * @param excluded servers without roles: what is in {@code incarnations} for them never has roles again
 */
public record Configuration(
        long clusterId,
        long hashSeed,
        long term,
        List<Long> incarnations,
        List<ShardAssignment> shards,
        long startTerm,
        int manager,
        Set<Integer> excluded) {
    /** No server may change the roles of running servers. */
    public static final int NO_MANAGER = -1;

    /** The configuration of a common start of all servers, without a manager. */
    public Configuration(
            long clusterId, long hashSeed, long term, List<Long> incarnations, List<ShardAssignment> shards) {
        this(clusterId, hashSeed, term, incarnations, shards, term, NO_MANAGER, Set.of());
    }

    public Configuration {
        incarnations = List.copyOf(incarnations);
        shards = List.copyOf(shards);
        excluded = Set.copyOf(excluded);
        if (startTerm > term) {
            throw new IllegalArgumentException("term " + term + " before its start, term " + startTerm);
        }
        if (manager < NO_MANAGER || manager >= incarnations.size() || excluded.contains(manager)) {
            throw new IllegalArgumentException(
                    "server " + manager + " of " + incarnations.size() + " cannot be the manager without " + excluded);
        }
        if (shards.isEmpty() || shards.size() > ShardMap.MAX_SHARDS) {
            throw new IllegalArgumentException(
                    "a configuration has 1.." + ShardMap.MAX_SHARDS + " shards, not " + shards.size());
        }
    }

    public int serverCount() {
        return incarnations.size();
    }

    /** Whether that server may have roles. */
    public boolean isMember(int server) {
        return server >= 0 && server < incarnations.size() && !excluded.contains(server);
    }

    /** Whether that process may have roles. */
    public boolean names(int server, long incarnation) {
        return isMember(server) && incarnations.get(server) == incarnation;
    }

    /**
     * Whether a connection that this process opened in that term may exist. The term may be an earlier one of the same
     * start: connections outlive changes of roles, and an excluded incarnation is never named again. It may not be a
     * later one: its exclusions are not prepared here.
     */
    public boolean admits(int server, long incarnation, long openedIn) {
        return startTerm <= openedIn && openedIn <= term && names(server, incarnation);
    }

    /** Whether a shard has another primary than in an earlier configuration, although that one runs on. */
    public boolean isHandedOver(int shard, Configuration before) {
        final int former = before.shard(shard).primary();
        return shard(shard).primary() != former && names(former, before.incarnations.get(former));
    }

    /** Whether any shard is handed over since an earlier configuration. */
    public boolean handsOver(Configuration before) {
        return IntStream.range(0, shardCount()).anyMatch(shard -> isHandedOver(shard, before));
    }

    /** Whether data of that server may be the only ones left of some shard: it has started, and has complete replicas. */
    public boolean countsOn(int server) {
        return incarnations.get(server) > 0
                && (isMember(server) || shards.stream().anyMatch(shard -> shard.isComplete(server)));
    }

    /** The servers that may have roles, ascending. */
    public List<Integer> members() {
        return IntStream.range(0, incarnations.size())
                .filter(this::isMember)
                .boxed()
                .toList();
    }

    /** The shards of which that server is the primary. */
    public List<Integer> primariesOf(int server) {
        return IntStream.range(0, shards.size())
                .filter(shard -> shards.get(shard).primary() == server)
                .boxed()
                .toList();
    }

    public boolean hasManager() {
        return manager != NO_MANAGER;
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

    /** Of some shards. */
    public Map<Integer, Integer> epochs(Collection<Integer> ofShards) {
        final Map<Integer, Integer> epochs = new TreeMap<>();
        ofShards.forEach(shard -> epochs.put(shard, shard(shard).epoch()));
        return epochs;
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

    /**
     * The common start of all servers that are not gone, which have started anew and lost nothing: roles stay, every shard
     * has a new epoch. Joining replicas begin anew, and shards with too few replicas get joining ones. A higher term.
     *
     * @param newIncarnations of all servers; of those that are gone the former ones
     * @param gone servers without roles from now on
     * @param replicas of each shard, if there are servers for them
     * @return null if a shard has no complete replica left
     */
    public @Nullable Configuration restarted(List<Long> newIncarnations, Set<Integer> gone, int replicas) {
        final int[] held = held();
        final List<ShardAssignment> next = new ArrayList<>(shards.size());
        for (ShardAssignment shard : shards) {
            final ShardAssignment left = shard.excluding(gone, NO_MANAGER);
            if (left == null) {
                return null;
            }
            next.add(filled(left, held, gone, replicas).withEpoch(shard.epoch() + 1));
        }
        return new Configuration(clusterId, hashSeed, term + 1, newIncarnations, next, term + 1, NO_MANAGER, gone);
    }

    private int[] held() {
        final int[] held = new int[serverCount()];
        for (ShardAssignment shard : shards) {
            held[shard.primary()]++;
            Arrays.stream(shard.backups()).forEach(backup -> held[backup]++);
        }
        return held;
    }

    private static ShardAssignment filled(ShardAssignment shard, int[] held, Set<Integer> gone, int replicas) {
        ShardAssignment filled = shard;
        int more = withFewest(held, filled, gone);
        while (filled.replicaCount() < replicas && more >= 0) {
            held[more]++;
            filled = filled.adding(more);
            more = withFewest(held, filled, gone);
        }
        return filled.equals(shard) ? shard : filled.withEpoch(shard.epoch() + 1);
    }

    /** Of the servers without a replica of the shard the one that holds the fewest of all; −1 if there is none. */
    private static int withFewest(int[] held, ShardAssignment shard, Set<Integer> gone) {
        int fewest = -1;
        for (int server = 0; server < held.length; server++) {
            if (!gone.contains(server) && !shard.isReplica(server) && (fewest < 0 || held[server] < held[fewest])) {
                fewest = server;
            }
        }
        return fewest;
    }

    /**
     * With other primaries of some shards, while all servers run: those that they have now hand them over, and are backups.
     * A higher term, and a new epoch of these shards.
     *
     * @param newPrimaries by shard
     * @throws IllegalArgumentException if one is no complete backup of its shard
     */
    public Configuration handedOver(Map<Integer, Integer> newPrimaries) {
        final List<ShardAssignment> next = new ArrayList<>(shards);
        newPrimaries.forEach(
                (shard, server) -> next.set(shard, shards.get(shard).swapped(server)));
        return changed(incarnations, next, manager, excluded);
    }

    /**
     * Where those servers, which stay members and are primary of nothing, are backups of nothing either. A higher term, and
     * a new epoch of the shards that lose one.
     *
     * @throws IllegalArgumentException if one is a primary
     */
    public Configuration withoutBackups(Set<Integer> servers) {
        final List<ShardAssignment> next = new ArrayList<>(shards.size());
        for (ShardAssignment shard : shards) {
            final ShardAssignment left =
                    servers.contains(shard.primary()) ? null : shard.excluding(servers, NO_MANAGER);
            if (left == null) {
                throw new IllegalArgumentException("server " + shard.primary() + " is a primary: " + shard);
            }
            next.add(left);
        }
        return changed(incarnations, next, manager, excluded);
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
     * With a new epoch of some shards, whose versions come to the end of the present one. A higher term; roles stay.
     */
    public Configuration renewed(Collection<Integer> ofShards) {
        final List<ShardAssignment> next = new ArrayList<>(shards);
        ofShards.forEach(shard ->
                next.set(shard, shards.get(shard).withEpoch(shards.get(shard).epoch() + 1)));
        return changed(incarnations, next, manager, excluded);
    }

    /** A copy with a higher term, for a coordinated restart of all servers, in which each shard gets a new epoch. */
    public Configuration superseded() {
        return new Configuration(clusterId, hashSeed, term + 1, incarnations, shards, term + 1, NO_MANAGER, excluded);
    }

    // --- changes of running servers, by their manager ---

    /** The same roles under a manager. Not a higher term: for a configuration that is not stored yet. */
    public Configuration managedBy(int server) {
        return new Configuration(clusterId, hashSeed, term, incarnations, shards, startTerm, server, excluded);
    }

    private Configuration changed(
            List<Long> newIncarnations, List<ShardAssignment> next, int newManager, Set<Integer> nowExcluded) {
        return new Configuration(
                clusterId, hashSeed, term + 1, newIncarnations, next, startTerm, newManager, nowExcluded);
    }

    /** The same roles in a higher term, under that manager. */
    public Configuration succeeded(int newManager) {
        return changed(incarnations, shards, newManager, excluded);
    }

    /**
     * Without some servers, under that manager. Of a shard without its primary a complete backup takes over, spread over
     * the servers.
     *
     * @return null if a shard has no complete replica left: then they stay
     */
    public @Nullable Configuration excluding(Set<Integer> servers, int newManager) {
        final int[] primaries = new int[serverCount()];
        shards.forEach(shard -> primaries[shard.primary()]++);
        final List<ShardAssignment> next = new ArrayList<>(shards.size());
        for (ShardAssignment shard : shards) {
            int preferred = NO_MANAGER;
            for (int backup : shard.backups()) {
                if (shard.isComplete(backup)
                        && !servers.contains(backup)
                        && (preferred == NO_MANAGER || primaries[backup] < primaries[preferred])) {
                    preferred = backup;
                }
            }
            final ShardAssignment left = shard.excluding(servers, preferred);
            if (left == null) {
                return null;
            }
            if (left.primary() != shard.primary()) {
                primaries[left.primary()]++;
            }
            next.add(left);
        }
        final Set<Integer> nowExcluded = new HashSet<>(excluded);
        nowExcluded.addAll(servers);
        return changed(incarnations, next, newManager, nowExcluded);
    }

    /**
     * With a server that is excluded so far. It has no replicas yet.
     *
     * @param incarnation later than the excluded one
     */
    public Configuration adding(int server, long incarnation) {
        if (isMember(server) || incarnation <= incarnations.get(server)) {
            throw new IllegalArgumentException("server " + server + " is a member, or had incarnation "
                    + incarnations.get(server) + " before: " + incarnation);
        }
        final List<Long> newIncarnations = new ArrayList<>(incarnations);
        newIncarnations.set(server, incarnation);
        final Set<Integer> nowExcluded = new HashSet<>(excluded);
        nowExcluded.remove(server);
        return changed(newIncarnations, shards, manager, nowExcluded);
    }

    /**
     * With joining replicas on members, where shards have too few.
     *
     * @param notTo members that get none
     * @param which shards get any
     */
    public Configuration filled(int replicas, Set<Integer> notTo, Predicate<ShardAssignment> which) {
        final int[] held = held();
        final Set<Integer> gone = new HashSet<>(excluded);
        gone.addAll(notTo);
        return changed(
                incarnations,
                shards.stream()
                        .map(shard -> which.test(shard) ? filled(shard, held, gone, replicas) : shard)
                        .toList(),
                manager,
                excluded);
    }

    /** After copies to joining replicas became complete, by server. Epochs stay. */
    public Configuration completed(Map<Integer, Set<Integer>> shardsOfServers) {
        final List<ShardAssignment> next = new ArrayList<>(shards);
        shardsOfServers.forEach((server, completed) ->
                completed.forEach(shard -> next.set(shard, next.get(shard).joined(server))));
        return changed(incarnations, next, manager, excluded);
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
