package org.rowankv.server.shard;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.ShardAssignment;

/** Roles in which server 0 is the primary of every shard. */
public final class RolesOfOne {
    private RolesOfOne() {}

    /** Of a server whose shards have those backups. All incarnations are 1. */
    public static CurrentRoles current(List<ShardPrimary> primaries, int... backups) {
        final Configuration configuration = configuration(primaries.size(), backups);
        return new CurrentRoles(new Roles(0, configuration, primaries::get));
    }

    /** Term 1, epoch 1, and four servers of incarnation 1. */
    public static Configuration configuration(int shardCount, int... backups) {
        final ShardAssignment assignment = new ShardAssignment(1, 0, backups);
        return new Configuration(
                1, 7, 1, List.of(1L, 1L, 1L, 1L), new ArrayList<>(Collections.nCopies(shardCount, assignment)));
    }

    /** The next term, in which each shard has a new epoch and those backups, some of them joining. */
    public static Configuration changed(Configuration before, Set<Integer> joining, int... backups) {
        final List<ShardAssignment> shards = new ArrayList<>();
        before.shards().forEach(shard -> shards.add(new ShardAssignment(shard.epoch() + 1, 0, backups, joining)));
        return new Configuration(
                before.clusterId(), before.hashSeed(), before.term() + 1, before.incarnations(), shards);
    }

    /** The next term, in which that server has another incarnation. Epochs stay. */
    public static Configuration returned(Configuration before, int server) {
        final List<Long> incarnations = new ArrayList<>(before.incarnations());
        incarnations.set(server, incarnations.get(server) + 1);
        return new Configuration(
                before.clusterId(), before.hashSeed(), before.term() + 1, incarnations, before.shards());
    }

    /** The next term, in which another server is the primary of a shard and this one its backup. */
    public static Configuration without(Configuration before, int shard) {
        return before.handedOver(Map.of(shard, before.shard(shard).backups()[0]));
    }

    /** Puts the roles of a next term in force, in which server 0 has that primary of shard 0, its only one. */
    public static void putInForce(CurrentRoles roles, ShardPrimary primary) {
        final Configuration next = returned(roles.get().configuration(), 3);
        roles.replace(new Roles(0, next, shard -> primary));
    }

    /** Puts a configuration in force in which server 0 is the primary of no shard that it has not now. */
    public static void replace(CurrentRoles roles, Configuration next) {
        roles.replace(roles.get().next(next, shard -> {
            throw new AssertionError("shard " + shard + " has come to server 0");
        }));
        for (int shard = 0; shard < next.shardCount(); shard++) {
            final boolean unused = roles.left(shard, roles.close(shard));
        }
    }
}
