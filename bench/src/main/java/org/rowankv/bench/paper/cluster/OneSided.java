package org.rowankv.bench.paper.cluster;

import org.rowankv.bench.paper.model.Costs;
import org.rowankv.bench.paper.model.EntityRandom;
import org.rowankv.bench.paper.model.ModelEvent;
import org.rowankv.bench.paper.model.NetworkCard;

/** Writes that no processor of the backup touches: each entry alone, acknowledged when a read behind it returns. */
final class OneSided implements ReplicationModel {
    private final ClusterModel model;
    private final Strategy strategy;

    /** By backup: one log for each worker of every other server, or for each other server. */
    private final Log[][] logs;

    /** Latest arrival on the connection of two servers. */
    private final long[][] arrivedNs = new long[ClusterPoint.SERVERS][ClusterPoint.SERVERS];

    OneSided(ClusterModel model, Strategy strategy) {
        this.model = model;
        this.strategy = strategy;
        logs = new Log[ClusterPoint.SERVERS][];
        final int each = strategy == Strategy.RWRITE || strategy == Strategy.BATCH
                ? model.point().workers()
                : 1;
        for (int i = 0; i < ClusterPoint.SERVERS; i++) {
            logs[i] = new Log[each * ClusterPoint.SERVERS];
            for (int j = 0; j < logs[i].length; j++) {
                logs[i][j] = model.server(i).newLog();
            }
        }
    }

    @Override
    public long replicate(long nowNs, Put put, ServerModel backup) {
        final long postedNs = nowNs + Costs.POST;
        post(postedNs, put.worker, backup, put.length, acknowledgedNs -> {
            model.persisted(acknowledgedNs - postedNs);
            put.acknowledged(acknowledgedNs);
        });
        return Costs.POST;
    }

    /** Posts a write; the event happens when it is acknowledged. */
    void post(long postedNs, WorkerModel worker, ServerModel backup, int length, ModelEvent acknowledged) {
        final int from = worker.server.number;
        final EntityRandom random = model.random();
        final long address = switch (strategy) {
            case ROWAN, RPC -> NetworkCard.RECEIVER_PLACES;
            case RWRITE, BATCH -> logs[backup.number][from * model.point().workers() + worker.number].append(length);
            case SHARE, LEASED -> logs[backup.number][from].append(length);
        };
        long arrivesNs = postedNs + random.oneWayNs();
        if (strategy == Strategy.SHARE && random.percent(Costs.LATE_PERCENT)) {
            arrivesNs += random.exponential(Costs.LATE);
        } else if (strategy == Strategy.LEASED) {
            arrivesNs = Math.max(arrivesNs, arrivedNs[from][backup.number]);
            arrivedNs[from][backup.number] = arrivesNs;
        }
        model.at(arrivesNs, nowNs -> {
            backup.clean(nowNs, length);
            backup.card.arrive(
                    nowNs, address, length, persistedNs -> model.at(persistedNs + random.oneWayNs(), acknowledged));
        });
    }
}
