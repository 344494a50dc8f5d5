package org.rowankv.bench.paper.figure;

import java.util.ArrayList;
import java.util.List;
import org.rowankv.bench.paper.cluster.ClusterModel;
import org.rowankv.bench.paper.cluster.ClusterPoint;
import org.rowankv.bench.paper.cluster.ClusterResult;
import org.rowankv.bench.paper.cluster.Strategy;
import org.rowankv.bench.paper.plot.Panel;
import org.rowankv.bench.paper.plot.Series;

/** Figure 11: time of one remote persistence, both at the throughput at which RWrite-KV peaks. */
final class PersistFigure implements Figure {
    private static final List<Double> PERCENTILES = List.of(10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9);
    private static final List<Strategy> COMPARED = List.of(Strategy.ROWAN, Strategy.RWRITE);
    private static final int HALVINGS = 6;

    @Override
    public String name() {
        return "11";
    }

    @Override
    public String title() {
        return "Figure 11 (model): remote persistence at RWrite-KV's peak";
    }

    @Override
    public List<String> labelColumns() {
        return List.of("strategy");
    }

    @Override
    public List<String> valueColumns() {
        final List<String> columns = new ArrayList<>(List.of("clients", "mops"));
        PERCENTILES.forEach(each -> columns.add(column(each)));
        return columns;
    }

    private static String column(double percentile) {
        return "p" + (percentile == Math.rint(percentile) ? String.valueOf((int) percentile) : percentile) + "_us";
    }

    @Override
    public List<Point> points(Scale scale) {
        return COMPARED.stream()
                .map(each -> Point.of(seed -> row(scale, each, seed), each.label()))
                .toList();
    }

    /** RWrite-KV with all clients; Rowan-KV with as many as give the same throughput. */
    private static List<Double> row(Scale scale, Strategy strategy, long seed) {
        final ClusterResult peak = ClusterModel.run(ClusterCells.cell(scale, Strategy.RWRITE), seed);
        if (strategy == Strategy.RWRITE) {
            return row(scale.mostClients(), peak);
        }
        final ClusterPoint cell = ClusterCells.cell(scale, strategy);
        int least = scale.leastClients();
        int most = scale.mostClients();
        for (int i = 0; i < HALVINGS; i++) {
            final int middle = (least + most) / 2;
            if (ClusterModel.run(cell.withClients(middle), seed).millionsPerSecond() < peak.millionsPerSecond()) {
                least = middle;
            } else {
                most = middle;
            }
        }
        return row(most, ClusterModel.run(cell.withClients(most), seed));
    }

    private static List<Double> row(int clients, ClusterResult result) {
        final List<Double> row = new ArrayList<>(List.of((double) clients, result.millionsPerSecond()));
        PERCENTILES.forEach(each -> row.add(ClusterCells.us(result.persists(), each)));
        return row;
    }

    @Override
    public List<Panel> panels(Results results, Scale scale) {
        final List<Series> series = new ArrayList<>();
        for (Strategy each : COMPARED) {
            series.add(new Series(each.title(), latencies(results, each), PERCENTILES));
        }
        return List.of(Panel.lines("A", "us", "percent of the writes", series));
    }

    private static List<Double> latencies(Results results, Strategy strategy) {
        return PERCENTILES.stream()
                .map(each -> results.value(column(each), strategy.label()))
                .toList();
    }

    @Override
    public void judge(Results results, Scale scale, ReportLines report) {
        final List<Double> rowan = latencies(results, Strategy.ROWAN);
        final List<Double> writes = latencies(results, Strategy.RWRITE);
        double least = Double.MAX_VALUE;
        for (int i = 0; i < rowan.size(); i++) {
            least = Math.min(least, writes.get(i) / rowan.get(i));
        }
        report.atLeast("RWrite / Rowan, least of all percentiles from 10", "right of it everywhere", least, 1);
        final int p99 = PERCENTILES.indexOf(99.0);
        report.atLeast("RWrite / Rowan, p99", "24 us beside less", writes.get(p99) / rowan.get(p99), 1.5);
        final int p50 = PERCENTILES.indexOf(50.0);
        report.known("medians of Rowan and RWrite, us", "6.6, 11.5", rowan.get(p50), writes.get(p50));
    }
}
