package org.rowankv.server.reconfiguration;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.rowankv.placement.Configuration;
import org.rowankv.runtime.Chaos;

/**
 * Cold start (§4.5 and §4.7 of the paper): after every server has read its area, each shard's entries that may not be on
 * all of its replicas are collected from all of them and scattered to all of them, so that the replicas own the same
 * entries. What was never acknowledged takes effect everywhere or, if no replica has it, nowhere.
 */
public final class ColdStart {
    private ColdStart() {}

    /** @return how many copies were scattered */
    public static long collectAndScatter(Configuration configuration, List<RecoveredServer> servers) {
        final Map<Integer, RecoveredServer> byId = new HashMap<>();
        servers.forEach(server -> byId.put(server.serverId(), server));
        long scattered = 0;
        for (int shard = 0; shard < configuration.shardCount(); shard++) {
            final List<RecoveredServer> owners = new ArrayList<>();
            for (RecoveredServer server : servers) {
                if (configuration.shard(shard).isReplica(server.serverId())) {
                    owners.add(server);
                }
            }
            if (owners.size() > 1) {
                scattered += shard(shard, owners);
                Chaos.point("start.collected");
            }
        }
        Chaos.point("start.scattered");
        // All of them first: what is committed here must be on the device there.
        servers.forEach(RecoveredServer::drain);
        servers.forEach(RecoveredServer::finish);
        Chaos.point("start.recovered");
        return scattered;
    }

    private static long shard(int shard, List<RecoveredServer> owners) {
        long commitVersion = 0;
        for (RecoveredServer owner : owners) {
            // Above the highest CommitVer that any of them knows: below it every replica had the entry, and may have
            // dropped it since for good reason.
            commitVersion = Math.max(commitVersion, owner.replicas().get(shard).commitVersion());
        }
        final List<Map<Long, Long>> held = new ArrayList<>();
        for (RecoveredServer owner : owners) {
            held.add(owner.candidates(shard, commitVersion));
        }
        long scattered = 0;
        for (int from = 0; from < owners.size(); from++) {
            for (Map.Entry<Long, Long> candidate : List.copyOf(held.get(from).entrySet())) {
                for (int to = 0; to < owners.size(); to++) {
                    if (!held.get(to).containsKey(candidate.getKey())) {
                        owners.get(to)
                                .takeOver(
                                        owners.get(from),
                                        candidate.getValue(),
                                        owners.get(to).replicas().get(shard).tenure());
                        scattered++;
                        Chaos.point("start.taken-over");
                    }
                }
            }
            // Whoever comes later in turn has by now all that this one had.
            for (int to = from + 1; to < owners.size(); to++) {
                held.get(to).keySet().removeAll(held.get(from).keySet());
            }
        }
        return scattered;
    }
}
