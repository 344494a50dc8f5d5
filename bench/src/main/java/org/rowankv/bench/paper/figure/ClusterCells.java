package org.rowankv.bench.paper.figure;

import java.util.List;
import org.rowankv.bench.paper.cluster.ClusterModel;
import org.rowankv.bench.paper.cluster.ClusterPoint;
import org.rowankv.bench.paper.cluster.ClusterResult;
import org.rowankv.bench.paper.cluster.Strategy;
import org.rowankv.bench.paper.model.Costs;
import org.rowankv.bench.report.ObjectSizes;

/** The paper's default cluster, of which a figure changes one thing: write-intensive, ZippyDB, at the peak. */
final class ClusterCells {
    static final int WRITE_INTENSIVE = 50;
    static final int WORKERS = 24;
    static final int REPLICAS = 3;
    static final int DIMMS = 3;
    static final List<Strategy> OF_THE_PAPER =
            List.of(Strategy.ROWAN, Strategy.RPC, Strategy.RWRITE, Strategy.BATCH, Strategy.SHARE);

    private static final double US = 1e3;

    private ClusterCells() {}

    static ClusterPoint cell(Scale scale, Strategy strategy) {
        return new ClusterPoint(
                strategy,
                WRITE_INTENSIVE,
                scale.entries(ObjectSizes.ZIPPY_DB),
                scale.mostClients(),
                WORKERS,
                REPLICAS,
                DIMMS,
                Costs.BATCH_AGE,
                scale.clusterNs());
    }

    /** The columns mops, dlwa and media_gbps. */
    static List<Double> rates(ClusterPoint cell, long seed) {
        final ClusterResult result = ClusterModel.run(cell, seed);
        return List.of(result.millionsPerSecond(), result.amplification(), result.mediaGbps());
    }

    static double us(org.HdrHistogram.Histogram latencies, double percentile) {
        return latencies.getTotalCount() == 0 ? 0 : latencies.getValueAtPercentile(percentile) / US;
    }
}
