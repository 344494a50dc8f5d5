package org.rowankv.server.membership;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.RandomSource;
import org.rowankv.server.configstore.ConfigurationStore;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.FormerReplica;
import org.rowankv.topology.ShardAssignment;

/**
 * Servers that never return, although they hold the only complete replicas of some shards: what is lost without them, and
 * the configuration without them, for a common start of the others. A shard without a complete replica goes on with the
 * newest that a remaining server has of it, or begins empty.
 *
 * <p>It must be certain that the lost servers do not run: what they would acknowledge is lost.
 *
 * <p>Thread-safe; calls block on the store.
 */
public final class LostServers {
    private final ClusterNodes nodes;

    /** @param writer unique among all writers of the store */
    public LostServers(ConfigurationStore store, String writer, RandomSource random) {
        this.nodes = new ClusterNodes(store, writer, random);
    }

    /**
     * A server, and what it has of shards of which it is no complete replica.
     *
     * @param name of the server
     * @param hasArea whether it may be the primary of shards that begin empty
     */
    public record LiveServer(String name, boolean hasArea, List<FormerReplica> replicas) {}

    /**
     * What is lost of a shard.
     *
     * @param complete the servers with complete replicas, all of them lost
     * @param server its primary from now on
     * @param left what that server has of it; null if the shard begins empty
     */
    public record Loss(
            int shard,
            List<String> complete,
            String server,
            @Nullable FormerReplica left) {}

    /**
     * What {@link #store} will do.
     *
     * @param version of the node with the present configuration
     * @param waitsFor servers that do not run, and have the only complete replicas of other shards
     */
    public record Plan(Configuration next, long version, List<Loss> losses, List<String> waitsFor) {}

    /**
     * Plans the configuration without those servers.
     *
     * @param live all servers that run
     * @throws ClusterException if that is refused; the message says why, and what to do
     * @throws org.rowankv.server.configstore.ConfigurationStoreException if the store is unreachable
     */
    public Plan plan(List<String> names, List<LiveServer> live) {
        final Members members = nodes.members();
        final ClusterNodes.Stored stored = nodes.configuration();
        if (members == null || stored == null) {
            throw new ClusterException("there is no configuration of that cluster yet: nothing can be lost");
        }
        final Set<Integer> lost = numbers(members, names);
        for (LiveServer each : live) {
            if (names.contains(each.name())) {
                throw new ClusterException("server '" + each.name() + "' runs: let it start, or stop it, and be certain"
                        + " that it never runs with its present data again");
            }
        }
        final Configuration present = stored.configuration();
        requireNeeded(present, members, lost);
        if (live.stream().noneMatch(LiveServer::hasArea)) {
            throw new ClusterException("none of the remaining servers runs: start them first, so that it is known what"
                    + " they have. They wait for the lost ones");
        }
        final List<Loss> losses = new ArrayList<>();
        final Configuration next = without(present, members, lost, live, losses);
        return new Plan(next, stored.version(), losses, waitsFor(next, members, live));
    }

    /** Stores the planned configuration; false if another has been stored since the plan was made. */
    public boolean store(Plan plan) {
        return nodes.decide(plan.next(), plan.version());
    }

    private static Set<Integer> numbers(Members members, List<String> names) {
        final Set<Integer> lost = new TreeSet<>();
        for (String name : names) {
            final int number = members.numberOf(name);
            if (number < 0) {
                throw new ClusterException(
                        "there is no server '" + name + "'; the cluster has " + String.join(", ", members.names()));
            }
            lost.add(number);
        }
        if (lost.size() == members.names().size()) {
            throw new ClusterException("these are all servers of the cluster: nothing would be left. Create a new one");
        }
        return lost;
    }

    private static void requireNeeded(Configuration present, Members members, Set<Integer> lost) {
        final Set<Integer> needed = new HashSet<>();
        for (ShardAssignment shard : present.shards()) {
            final Set<Integer> complete = complete(shard, present.serverCount());
            if (lost.containsAll(complete)) {
                needed.addAll(complete);
            }
        }
        for (int server : lost) {
            if (!needed.contains(server)) {
                throw new ClusterException("server '" + members.names().get(server) + "' is not needed: the others have"
                        + " complete replicas of its shards, and go on, or start, without it. Do not name it");
            }
        }
    }

    private static Set<Integer> complete(ShardAssignment shard, int servers) {
        final Set<Integer> complete = new TreeSet<>();
        for (int server = 0; server < servers; server++) {
            if (shard.isComplete(server)) {
                complete.add(server);
            }
        }
        return complete;
    }

    private static List<String> waitsFor(Configuration next, Members members, List<LiveServer> live) {
        final Set<Integer> running =
                live.stream().map(each -> members.numberOf(each.name())).collect(Collectors.toSet());
        final Set<Integer> missing = new TreeSet<>();
        for (ShardAssignment shard : next.shards()) {
            final Set<Integer> complete = complete(shard, next.serverCount());
            if (Collections.disjoint(complete, running)) {
                missing.addAll(complete);
            }
        }
        return missing.stream().map(members.names()::get).toList();
    }

    private Configuration without(
            Configuration present, Members members, Set<Integer> lost, List<LiveServer> live, List<Loss> losses) {
        final int[] primaries = new int[present.serverCount()];
        present.shards().forEach(shard -> primaries[shard.primary()]++);
        final List<ShardAssignment> shards = new ArrayList<>();
        final Set<Integer> excluded = new HashSet<>(present.excluded());
        excluded.addAll(lost);
        for (int shard = 0; shard < present.shardCount(); shard++) {
            final ShardAssignment found = present.shard(shard);
            final ShardAssignment left = found.excluding(lost, Configuration.NO_MANAGER);
            if (left != null) {
                shards.add(left);
                continue;
            }
            final Loss loss = loss(shard, found, members, live, primaries);
            losses.add(loss);
            final int server = members.numberOf(loss.server());
            primaries[server]++;
            excluded.remove(server);
            shards.add(found.recovered(server, loss.left() == null));
        }
        return new Configuration(
                present.clusterId(),
                present.hashSeed(),
                present.term() + 1,
                incarnations(present, members, lost),
                shards,
                present.term() + 1,
                Configuration.NO_MANAGER,
                excluded);
    }

    /** What is registered of a lost server is excluded too: no start waits for it. */
    private List<Long> incarnations(Configuration present, Members members, Set<Integer> lost) {
        final List<Long> incarnations = new ArrayList<>(present.incarnations());
        for (int server : lost) {
            final ServerRegistration registration =
                    nodes.announcement(members.names().get(server));
            if (registration != null) {
                incarnations.set(server, Math.max(incarnations.get(server), registration.incarnation()));
            }
        }
        return incarnations;
    }

    private static Loss loss(
            int shard, ShardAssignment found, Members members, List<LiveServer> live, int[] primaries) {
        final List<String> complete = complete(found, primaries.length).stream()
                .map(members.names()::get)
                .toList();
        String server = null;
        FormerReplica newest = null;
        for (LiveServer each : live) {
            for (FormerReplica replica : each.replicas()) {
                if (replica.shard() == shard && (newest == null || replica.newest() > newest.newest())) {
                    newest = replica;
                    server = each.name();
                }
            }
        }
        if (server == null) {
            server = live.stream()
                    .filter(LiveServer::hasArea)
                    .map(LiveServer::name)
                    .min(Comparator.comparingInt(name -> primaries[members.numberOf(name)]))
                    .orElseThrow();
        }
        return new Loss(shard, complete, server, newest);
    }
}
