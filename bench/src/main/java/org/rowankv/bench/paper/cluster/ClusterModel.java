package org.rowankv.bench.paper.cluster;

import org.HdrHistogram.Histogram;
import org.rowankv.bench.paper.model.Costs;
import org.rowankv.bench.paper.model.EntityRandom;
import org.rowankv.bench.paper.model.EventQueue;
import org.rowankv.bench.paper.model.ModelEvent;

/** A run of one point: six servers, and clients that keep one operation under way each. */
public final class ClusterModel {
    private static final long WARM_UP_NS = 400_000;
    private static final int PERCENT = 100;
    private static final long LONGEST_NS = 100_000_000;

    private final ClusterPoint point;
    private final EventQueue queue = new EventQueue();
    private final EntityRandom random;
    private final ServerModel[] servers = new ServerModel[ClusterPoint.SERVERS];
    private final ReplicationModel replication;
    private final Histogram puts = new Histogram(LONGEST_NS, 3);
    private final Histogram gets = new Histogram(LONGEST_NS, 3);
    private final Histogram persists = new Histogram(LONGEST_NS, 3);

    private ClusterModel(ClusterPoint point, long seed) {
        this.point = point;
        random = new EntityRandom(seed);
        for (int i = 0; i < servers.length; i++) {
            servers[i] = new ServerModel(i, queue, point, random.split());
        }
        replication = switch (point.strategy()) {
            case RPC -> new RpcReplication(this);
            case BATCH -> new BatchReplication(this);
            default -> new OneSided(this, point.strategy());
        };
    }

    public static ClusterResult run(ClusterPoint point, long seed) {
        final ClusterModel model = new ClusterModel(point, seed);
        for (int i = 0; i < point.clients(); i++) {
            model.at(model.random.below(4_000), model.new Client());
        }
        return model.measure();
    }

    private ClusterResult measure() {
        queue.runUntil(WARM_UP_NS);
        for (ServerModel server : servers) {
            server.memory.resetCounts();
        }
        puts.reset();
        gets.reset();
        persists.reset();
        queue.runUntil(WARM_UP_NS + point.durationNs());
        long requested = 0;
        long media = 0;
        for (ServerModel server : servers) {
            requested += server.memory.requestBytes();
            media += server.memory.mediaBytes();
        }
        return new ClusterResult(
                (puts.getTotalCount() + gets.getTotalCount()) * 1e3 / point.durationNs(),
                puts,
                gets,
                persists,
                requested == 0 ? 1 : (double) media / requested,
                (double) requested / point.durationNs() / servers.length,
                (double) media / point.durationNs() / servers.length);
    }

    ClusterPoint point() {
        return point;
    }

    EntityRandom random() {
        return random;
    }

    ServerModel server(int number) {
        return servers[number];
    }

    ReplicationModel replication() {
        return replication;
    }

    void at(long timeNs, ModelEvent event) {
        queue.at(timeNs, event);
    }

    /** Processor time, which is less where messages come through the cache. */
    long processorNs(long costNs) {
        return point.strategy() == Strategy.RPC ? costNs * Costs.DDIO_PERCENT / PERCENT : costNs;
    }

    /** An entry was persistent at a backup, and its primary has learned of it, that long after it was posted. */
    void persisted(long afterNs) {
        persists.recordValue(afterNs);
    }

    private final class Client implements ModelEvent {
        private final EntityRandom own = random.split();
        private long sentNs;

        /** Sends the next operation. */
        @Override
        public void happen(long nowNs) {
            sentNs = nowNs;
            final boolean put = own.percent(point.putPercent());
            final WorkerModel worker = servers[own.below(servers.length)].anyWorker(own);
            at(nowNs + own.oneWayNs(), arrivedNs -> worker.submit(arrivedNs, beginNs -> begin(beginNs, worker, put)));
        }

        private void begin(long nowNs, WorkerModel worker, boolean put) {
            if (put) {
                new Put(ClusterModel.this, worker, endNs -> reply(endNs, puts)).begin(nowNs);
            } else {
                worker.compute(nowNs, processorNs(Costs.GET), endNs -> {
                    reply(endNs, gets);
                    worker.release(endNs);
                });
            }
        }

        private void reply(long nowNs, Histogram latencies) {
            at(nowNs + own.oneWayNs(), answeredNs -> {
                latencies.recordValue(answeredNs - sentNs);
                happen(answeredNs);
            });
        }
    }
}
