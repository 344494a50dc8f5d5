package org.rowankv.bench.paper.cluster;

import org.rowankv.bench.paper.model.Costs;
import org.rowankv.bench.paper.model.ModelEvent;

/**
 * A put on its primary: entry into the own log, to the backups, reply when all have acknowledged. The worker saves its
 * state meanwhile, and takes other requests.
 */
final class Put {
    final WorkerModel worker;
    private final ClusterModel model;
    private final ModelEvent reply;
    final int length;
    private int missing;

    Put(ClusterModel model, WorkerModel worker, ModelEvent reply) {
        this.model = model;
        this.worker = worker;
        this.reply = reply;
        length = model.point().sizes().draw(model.random());
    }

    void begin(long nowNs) {
        worker.compute(nowNs, model.processorNs(Costs.PUT_BEGIN), this::append);
    }

    private void append(long nowNs) {
        final long persistedNs = worker.server.persist(nowNs, worker.log, length);
        worker.compute(persistedNs, 0, this::replicate);
    }

    private void replicate(long nowNs) {
        final int backups = model.point().replicas() - 1;
        missing = backups;
        if (backups == 0) {
            end(nowNs);
            return;
        }
        final int first = model.random().below(ClusterPoint.SERVERS - 1);
        long atNs = nowNs;
        for (int i = 0; i < backups; i++) {
            final int step = 1 + (first + i) % (ClusterPoint.SERVERS - 1);
            final ServerModel backup = model.server((worker.server.number + step) % ClusterPoint.SERVERS);
            atNs += model.replication().replicate(atNs, this, backup);
        }
        worker.compute(nowNs, atNs - nowNs, worker::release);
    }

    /** A backup has the entry. */
    void acknowledged(long nowNs) {
        missing--;
        if (missing == 0) {
            worker.submitFirst(nowNs, this::end);
        }
    }

    private void end(long nowNs) {
        worker.compute(nowNs, model.processorNs(Costs.PUT_END), endNs -> {
            reply.happen(endNs);
            worker.release(endNs);
        });
    }
}
