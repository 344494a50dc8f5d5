package org.rowankv.bench.paper.figure;

import java.util.ArrayList;
import java.util.List;
import org.rowankv.bench.paper.cluster.ClusterModel;
import org.rowankv.bench.paper.cluster.ClusterPoint;
import org.rowankv.bench.paper.cluster.ClusterResult;
import org.rowankv.bench.paper.cluster.Strategy;
import org.rowankv.bench.paper.plot.Panel;
import org.rowankv.bench.paper.plot.Series;

/** Figure 10: write amplification at the peak. */
final class AmplificationFigure implements Figure {
    private static final String A = "A";
    private static final String LOAD = "LOAD";
    private static final long LONG_AGE_NS = 20_000;
    private static final int CLEANERS = 6;
    private static final String PATIENT = "batch 20 us";

    @Override
    public String name() {
        return "10";
    }

    @Override
    public String title() {
        return "Figure 10 (model): DLWA at the peak";
    }

    @Override
    public List<String> labelColumns() {
        return List.of("mix", "strategy");
    }

    @Override
    public List<String> valueColumns() {
        return List.of("dlwa", "request_gbps", "media_gbps", "streams");
    }

    @Override
    public List<Point> points(Scale scale) {
        final List<Point> points = new ArrayList<>();
        for (Strategy strategy : Strategy.values()) {
            final ClusterPoint cell = ClusterCells.cell(scale, strategy);
            points.add(Point.of(seed -> row(cell, seed), A, strategy.label()));
            points.add(Point.of(seed -> row(cell.withPuts(100), seed), LOAD, strategy.label()));
        }
        final ClusterPoint patient = ClusterCells.cell(scale, Strategy.BATCH).withBatchAge(LONG_AGE_NS);
        points.add(Point.of(seed -> row(patient, seed), A, PATIENT));
        return points;
    }

    private static List<Double> row(ClusterPoint cell, long seed) {
        final ClusterResult result = ClusterModel.run(cell, seed);
        final int logs = cell.workers() + CLEANERS + cell.strategy().backupLogs(ClusterPoint.SERVERS, cell.workers());
        return List.of(result.amplification(), result.requestGbps(), result.mediaGbps(), (double) logs);
    }

    @Override
    public List<Panel> panels(Results results, Scale scale) {
        final List<Panel> panels = new ArrayList<>();
        for (String mix : List.of(A, LOAD)) {
            final List<String> groups = new ArrayList<>();
            final List<Double> places = new ArrayList<>();
            final List<Double> requested = new ArrayList<>();
            final List<Double> media = new ArrayList<>();
            for (Strategy strategy : Strategy.values()) {
                groups.add(strategy.title().replace("-KV", ""));
                places.add((double) places.size());
                requested.add(results.value("request_gbps", mix, strategy.label()));
                media.add(results.value("media_gbps", mix, strategy.label()));
            }
            panels.add(Panel.bars(
                    mix.equals(A) ? "A" : "Load",
                    "GB/s of a server",
                    groups,
                    List.of(new Series("request", places, requested), new Series("media", places, media))));
        }
        return panels;
    }

    @Override
    public void judge(Results results, Scale scale, ReportLines report) {
        for (String mix : List.of(A, LOAD)) {
            final double rowan = dlwa(results, mix, Strategy.ROWAN);
            final double writes = dlwa(results, mix, Strategy.RWRITE);
            report.below(mix + ": Rowan", "< 1.032", rowan, 1.032);
            report.below(mix + ": RPC", "< 1.032; our margin is 1.10", dlwa(results, mix, Strategy.RPC), 1.10);
            report.between(mix + ": RWrite", "1.54 (A)", writes, 1.35, 1.75);
            report.between(mix + ": Share (fitted)", "1.28 to 1.39", dlwa(results, mix, Strategy.SHARE), 1.2, 1.45);
            report.below(mix + ": Batch less RWrite", "12 % lower", dlwa(results, mix, Strategy.BATCH) - writes, 0.03);
            for (Strategy other : List.of(Strategy.RPC, Strategy.RWRITE, Strategy.BATCH, Strategy.SHARE)) {
                report.below(mix + ": Rowan / " + other.title(), "lowest", rowan / dlwa(results, mix, other), 1);
            }
        }
        report.known("A: RPC, without our margin", "< 1.032", dlwa(results, A, Strategy.RPC));
    }

    private static double dlwa(Results results, String mix, Strategy strategy) {
        return results.value("dlwa", mix, strategy.label());
    }
}
