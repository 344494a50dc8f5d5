package org.rowankv.server.membership;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.ShardAssignment;

/**
 * The initial placement of a cluster's shards: primaries round-robin, the replicas of a shard on distinct servers, and
 * in distinct zones as far as possible. A server without a zone is a zone of its own.
 */
public final class InitialPlacement {
    private InitialPlacement() {}

    public static Configuration of(Members members) {
        final int servers = members.names().size();
        final List<Long> incarnations = new ArrayList<>();
        for (int server = 0; server < servers; server++) {
            incarnations.add(0L);
        }
        final Configuration rotated = Configuration.initial(
                members.clusterId(),
                members.hashSeed(),
                servers,
                servers, // all servers: the order of preference
                members.shape().shards(),
                incarnations);
        final List<ShardAssignment> shards = new ArrayList<>();
        for (ShardAssignment order : rotated.shards()) {
            shards.add(new ShardAssignment(
                    order.epoch(),
                    order.primary(),
                    backups(members, order, members.shape().replicas() - 1)));
        }
        return new Configuration(members.clusterId(), members.hashSeed(), rotated.term(), incarnations, shards);
    }

    private static int[] backups(Members members, ShardAssignment order, int count) {
        final List<Integer> chosen = new ArrayList<>();
        final Set<String> zones = new HashSet<>();
        zones.add(zoneOf(members, order.primary()));
        for (int server : order.backups()) {
            if (chosen.size() < count && zones.add(zoneOf(members, server))) {
                chosen.add(server);
            }
        }
        for (int server : order.backups()) {
            if (chosen.size() < count && !chosen.contains(server)) {
                chosen.add(server);
            }
        }
        return chosen.stream().mapToInt(Integer::intValue).toArray();
    }

    private static String zoneOf(Members members, int server) {
        final String zone = members.zones().get(server);
        return zone.isEmpty() ? "/" + server : zone;
    }
}
