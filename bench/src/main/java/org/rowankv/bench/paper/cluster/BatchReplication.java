package org.rowankv.bench.paper.cluster;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.rowankv.bench.paper.model.Costs;

/** Collects the entries of a worker for one backup; sends them when they are long enough, or old enough. */
final class BatchReplication implements ReplicationModel {
    private final class Batch {
        private final WorkerModel worker;
        private final ServerModel backup;
        private List<Put> puts = new ArrayList<>();
        private int length;

        Batch(WorkerModel worker, ServerModel backup) {
            this.worker = worker;
            this.backup = backup;
        }

        void post(long nowNs) {
            final List<Put> all = puts;
            final int bytes = length;
            puts = new ArrayList<>();
            length = 0;
            writes.post(nowNs, worker, backup, bytes, acknowledgedNs -> {
                model.persisted(acknowledgedNs - nowNs);
                all.forEach(put -> put.acknowledged(acknowledgedNs));
            });
        }
    }

    private final ClusterModel model;
    private final OneSided writes;
    private final Map<WorkerModel, Batch[]> batches = new HashMap<>();

    BatchReplication(ClusterModel model) {
        this.model = model;
        this.writes = new OneSided(model, Strategy.BATCH);
    }

    @Override
    public long replicate(long nowNs, Put put, ServerModel backup) {
        final Batch batch = batchOf(put.worker, backup);
        batch.puts.add(put);
        batch.length += put.length;
        if (batch.length > Costs.BATCH_BYTES) {
            batch.post(nowNs + Costs.POST);
            return Costs.POST;
        }
        if (batch.puts.size() == 1) {
            final List<Put> begun = batch.puts;
            model.at(nowNs + model.point().batchAgeNs(), oldNs -> sendOld(oldNs, batch, begun));
        }
        return 0;
    }

    private void sendOld(long nowNs, Batch batch, List<Put> begun) {
        if (batch.puts == begun) {
            batch.worker.submitFirst(nowNs, beginNs -> {
                if (batch.puts == begun) {
                    batch.worker.compute(beginNs, Costs.POST, postedNs -> {
                        batch.post(postedNs);
                        batch.worker.release(postedNs);
                    });
                } else {
                    batch.worker.release(beginNs);
                }
            });
        }
    }

    private Batch batchOf(WorkerModel worker, ServerModel backup) {
        final Batch[] own = batches.computeIfAbsent(worker, key -> new Batch[ClusterPoint.SERVERS]);
        if (own[backup.number] == null) {
            own[backup.number] = new Batch(worker, backup);
        }
        return own[backup.number];
    }
}
