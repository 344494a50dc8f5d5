package org.rowankv.bench.paper.cluster;

import org.rowankv.bench.paper.model.Costs;

/** A request to a worker of the backup, which appends to its own log. The cache takes messages: DDIO is on. */
final class RpcReplication implements ReplicationModel {
    private final ClusterModel model;

    RpcReplication(ClusterModel model) {
        this.model = model;
    }

    @Override
    public long replicate(long nowNs, Put put, ServerModel backup) {
        final long postNs = model.processorNs(Costs.POST);
        final WorkerModel worker = backup.anyWorker(model.random());
        model.at(
                nowNs + postNs + model.random().oneWayNs(),
                arrivedNs -> worker.submit(arrivedNs, beginNs -> append(beginNs, put, worker, nowNs + postNs)));
        return postNs;
    }

    private void append(long nowNs, Put put, WorkerModel worker, long postedNs) {
        worker.compute(nowNs, model.processorNs(Costs.REPLICATION_RPC), readyNs -> {
            final long persistedNs = worker.server.persist(readyNs, worker.rpcLog, put.length);
            worker.compute(persistedNs, 0, nextNs -> {
                model.at(nextNs + model.random().oneWayNs(), acknowledgedNs -> {
                    model.persisted(acknowledgedNs - postedNs);
                    put.acknowledged(acknowledgedNs);
                });
                worker.release(nextNs);
            });
        });
    }
}
