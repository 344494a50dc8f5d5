package org.rowankv.server.recovery;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.rowankv.runtime.Chaos;
import org.rowankv.server.resync.CopyAgent;
import org.rowankv.topology.Configuration;

/**
 * Cold start (§4.5 and §4.7 of the paper). After every server has read its area, the entries of each shard that may not
 * be on all of its replicas are collected from all of them and scattered to all of them, so that the replicas own the
 * same entries. An unacknowledged write takes effect everywhere or, if no replica has it, nowhere. Replicas that are
 * catching up take no part: their content does not count, and {@link CopyAgent} sends them everything later.
 */
public final class ColdStart {
    private ColdStart() {}

    /** @return the number of copies scattered */
    public static long collectAndScatter(Configuration configuration, List<RecoveredServer> servers) {
        // All shards first: entries that every replica has must not keep a server from making room for missing ones.
        final Map<Integer, Set<Long>> lacking = new TreeMap<>();
        for (int shard = 0; shard < configuration.shardCount(); shard++) {
            final List<RecoveredServer> owners = owners(configuration, shard, servers);
            if (owners.size() > 1) {
                lacking.put(shard, agree(shard, owners));
            }
        }
        long scattered = 0;
        for (Map.Entry<Integer, Set<Long>> each : lacking.entrySet()) {
            final int shard = each.getKey();
            final List<RecoveredServer> owners = owners(configuration, shard, servers);
            for (long version : each.getValue()) {
                scattered += scatter(shard, version, owners);
            }
            owners.forEach(owner -> owner.agreeAllBut(shard, Set.of()));
            Chaos.point("start.collected");
        }
        Chaos.point("start.scattered");
        // All servers first: an entry committed here must be on the device there.
        servers.forEach(RecoveredServer::drain);
        servers.forEach(RecoveredServer::finish);
        Chaos.point("start.recovered");
        return scattered;
    }

    private static List<RecoveredServer> owners(Configuration configuration, int shard, List<RecoveredServer> servers) {
        final List<RecoveredServer> owners = new ArrayList<>();
        for (RecoveredServer server : servers) {
            if (configuration.shard(shard).isComplete(server.serverId())) {
                owners.add(server);
            }
        }
        return owners;
    }

    /** Finds the versions of a shard that some replica has and another lacks; the others are dropped. */
    private static SortedSet<Long> agree(int shard, List<RecoveredServer> owners) {
        long commitVersion = 0;
        for (RecoveredServer owner : owners) {
            // Above the highest CommitVer of any replica: below it every replica had the entry, and may have dropped it
            // rightly since.
            commitVersion = Math.max(commitVersion, owner.replicas().get(shard).commitVersion());
        }
        final SortedSet<Long> some = new TreeSet<>();
        Set<Long> all = Set.of();
        for (RecoveredServer owner : owners) {
            final Set<Long> held = owner.candidates(shard, commitVersion);
            some.addAll(held);
            if (owner == owners.get(0)) {
                all = new HashSet<>(held);
            } else {
                all.retainAll(held);
            }
        }
        some.removeAll(all);
        owners.forEach(owner -> owner.agreeAllBut(shard, some));
        return some;
    }

    private static long scatter(int shard, long version, List<RecoveredServer> owners) {
        final List<RecoveredServer> without = new ArrayList<>();
        RecoveredServer source = null;
        for (RecoveredServer owner : owners) {
            if (owner.candidate(shard, version) == 0) {
                without.add(owner);
            } else if (source == null) {
                source = owner;
            }
        }
        if (source == null) {
            throw new AssertionError("version " + version + " of shard " + shard + " is nowhere");
        }
        for (RecoveredServer to : without) {
            to.takeOver(source, shard, version, to.replicas().get(shard).tenure());
            Chaos.point("start.taken-over");
        }
        return without.size();
    }
}
