package org.rowankv.bench.paper.figure;

import java.util.ArrayList;
import java.util.List;
import org.rowankv.bench.paper.cluster.ClusterPoint;
import org.rowankv.bench.paper.cluster.Strategy;
import org.rowankv.bench.paper.plot.Panel;
import org.rowankv.bench.paper.plot.Series;
import org.rowankv.bench.report.ObjectSizes;

/** Table 2: throughput with the objects of two other stores. */
final class SizesTable implements Figure {
    private static final String UP2X = "UP2X";
    private static final String UDB = "UDB";
    private static final double TIE = 0.98;

    @Override
    public String name() {
        return "t2";
    }

    @Override
    public String title() {
        return "Table 2 (model): throughput, UP2X and UDB objects";
    }

    @Override
    public List<String> labelColumns() {
        return List.of("dist", "strategy");
    }

    @Override
    public List<String> valueColumns() {
        return List.of("mops", "dlwa", "media_gbps");
    }

    @Override
    public List<Point> points(Scale scale) {
        final List<Point> points = new ArrayList<>();
        for (Strategy strategy : ClusterCells.OF_THE_PAPER) {
            final ClusterPoint cell = ClusterCells.cell(scale, strategy);
            final ClusterPoint up2x = cell.withSizes(scale.entries(ObjectSizes.UP2X));
            final ClusterPoint udb = cell.withSizes(scale.entries(ObjectSizes.UDB));
            points.add(Point.of(seed -> ClusterCells.rates(up2x, seed), UP2X, strategy.label()));
            points.add(Point.of(seed -> ClusterCells.rates(udb, seed), UDB, strategy.label()));
        }
        return points;
    }

    @Override
    public List<Panel> panels(Results results, Scale scale) {
        final List<Series> series = ClusterCells.OF_THE_PAPER.stream()
                .map(each -> new Series(
                        each.title(), List.of(0.0, 1.0), List.of(mops(results, UP2X, each), mops(results, UDB, each))))
                .toList();
        return List.of(Panel.bars("A", "million operations/s", List.of(UP2X, UDB), series));
    }

    private static double mops(Results results, String sizes, Strategy strategy) {
        return results.value("mops", sizes, strategy.label());
    }

    @Override
    public void judge(Results results, Scale scale, ReportLines report) {
        for (String sizes : List.of(UP2X, UDB)) {
            final double rowan = mops(results, sizes, Strategy.ROWAN);
            final double best = ClusterCells.OF_THE_PAPER.stream()
                    .mapToDouble(each -> mops(results, sizes, each))
                    .max()
                    .orElseThrow();
            report.atLeast(sizes + ": Rowan / the highest", "highest", rowan / best, TIE);
            report.between(
                    sizes + ": Rowan / RPC",
                    sizes.equals(UP2X) ? "1.20" : "1.24",
                    rowan / mops(results, sizes, Strategy.RPC),
                    1.1,
                    1.4);
        }
        for (ObjectSizes sizes : List.of(ObjectSizes.UP2X, ObjectSizes.UDB)) {
            report.inputSizes(sizes, scale);
        }
        report.known(
                "UP2X: Rowan / RWrite, Share",
                "1.31, 1.32",
                mops(results, UP2X, Strategy.ROWAN) / mops(results, UP2X, Strategy.RWRITE),
                mops(results, UP2X, Strategy.ROWAN) / mops(results, UP2X, Strategy.SHARE));
        report.known(
                "UDB: Rowan / Batch", "1.09", mops(results, UDB, Strategy.ROWAN) / mops(results, UDB, Strategy.BATCH));
    }
}
