package org.rowankv.bench.paper.figure;

import java.util.ArrayList;
import java.util.List;
import org.rowankv.bench.paper.cluster.ClusterModel;
import org.rowankv.bench.paper.cluster.ClusterResult;
import org.rowankv.bench.paper.cluster.Strategy;
import org.rowankv.bench.paper.plot.Panel;
import org.rowankv.bench.paper.plot.Series;
import org.rowankv.bench.report.ObjectSizes;

/** Figure 9: latency over throughput, by the number of clients. */
final class LatencyFigure implements Figure {
    /** A YCSB workload and its share of puts. */
    private enum Mix {
        LOAD(100),
        A(ClusterCells.WRITE_INTENSIVE),
        B(5),
        C(0);

        private final int putPercent;

        Mix(int putPercent) {
            this.putPercent = putPercent;
        }
    }

    private static final double NEAR_PEAK = 0.95;
    private static final double KNEE = 0.9;

    @Override
    public String name() {
        return "9";
    }

    @Override
    public String title() {
        return "Figure 9 (model): median latency by throughput";
    }

    @Override
    public List<String> labelColumns() {
        return List.of("mix", "strategy", "clients");
    }

    @Override
    public List<String> valueColumns() {
        return List.of("mops", "put_p50", "put_p99", "get_p50", "get_p99");
    }

    @Override
    public List<Point> points(Scale scale) {
        final List<Point> points = new ArrayList<>();
        for (Mix mix : Mix.values()) {
            for (Strategy strategy : Strategy.values()) {
                for (int clients : scale.clients()) {
                    points.add(Point.of(
                            seed -> row(ClusterModel.run(
                                    ClusterCells.cell(scale, strategy)
                                            .withPuts(mix.putPercent)
                                            .withClients(clients),
                                    seed)),
                            mix,
                            strategy.label(),
                            clients));
                }
            }
        }
        return points;
    }

    private static List<Double> row(ClusterResult result) {
        return List.of(
                result.millionsPerSecond(),
                ClusterCells.us(result.puts(), 50),
                ClusterCells.us(result.puts(), 99),
                ClusterCells.us(result.gets(), 50),
                ClusterCells.us(result.gets(), 99));
    }

    @Override
    public List<Panel> panels(Results results, Scale scale) {
        return List.of(
                panel("Load, put", Mix.LOAD, "put_p50", results, scale),
                panel("A, put", Mix.A, "put_p50", results, scale),
                panel("A, get", Mix.A, "get_p50", results, scale),
                panel("C, get", Mix.C, "get_p50", results, scale),
                panel("B, put", Mix.B, "put_p50", results, scale),
                panel("B, get", Mix.B, "get_p50", results, scale));
    }

    private static Panel panel(String title, Mix mix, String column, Results results, Scale scale) {
        final List<Series> series = new ArrayList<>();
        for (Strategy each : Strategy.values()) {
            series.add(new Series(
                    each.title(),
                    results.over("mops", scale.clients(), mix, each.label()),
                    results.over(column, scale.clients(), mix, each.label())));
        }
        return Panel.lines(title, "million operations/s", "us at the median", series);
    }

    @Override
    public void judge(Results results, Scale scale, ReportLines report) {
        report.between("A: Rowan / RPC", "1.22", ratio(results, scale, Mix.A, Strategy.RPC), 1.1, 1.4);
        report.between("A: Rowan / RWrite", "1.39", ratio(results, scale, Mix.A, Strategy.RWRITE), 1.15, 1.6);
        report.atLeast("A: Rowan / Batch", "1.13", ratio(results, scale, Mix.A, Strategy.BATCH), 1);
        report.atLeast("A: Rowan / Share", "> 1", ratio(results, scale, Mix.A, Strategy.SHARE), 1);
        report.between("Load: Rowan / RPC", "1.37", ratio(results, scale, Mix.LOAD, Strategy.RPC), 1.2, 1.5);
        report.atLeast("Load: Rowan / RWrite", "1.61", ratio(results, scale, Mix.LOAD, Strategy.RWRITE), 1.3);
        report.between("B: Rowan / RPC", "similar", ratio(results, scale, Mix.B, Strategy.RPC), 0.95, 1.1);
        report.between("C: RPC / Rowan", "1.05", 1 / ratio(results, scale, Mix.C, Strategy.RPC), 1.02, 1.08);
        report.atLeast(
                "A: put of RPC / Rowan at 95 % of RPC's peak, p50", "1.77", atPeakOfRpc(results, scale, Mix.A), 1.3);
        report.atLeast(
                "Load: put of RPC / Rowan at 95 % of RPC's peak, p50",
                "1.61", atPeakOfRpc(results, scale, Mix.LOAD), 1.3);
        report.atLeast(
                "A: put of Batch / Rowan at low load, p50",
                "> 1.5",
                results.value("put_p50", Mix.A, Strategy.BATCH.label(), scale.leastClients())
                        / results.value("put_p50", Mix.A, Strategy.ROWAN.label(), scale.leastClients()),
                1.5);
        report.atLeast("A: leased / Rowan", "-", 1 / ratio(results, scale, Mix.A, Strategy.LEASED), 0.97);
        for (Strategy each : Strategy.values()) {
            report.rises(
                    "A: curve of " + each.title(),
                    "rises to the knee",
                    toKnee(results.over("mops", scale.clients(), Mix.A, each.label())));
        }
        report.inputSizes(ObjectSizes.ZIPPY_DB, scale);
        report.input("A: peak of Rowan, M/s", "72.7", peak(results, scale, Mix.A, Strategy.ROWAN));
        report.input("Load: peak of Rowan, M/s", "48.2", peak(results, scale, Mix.LOAD, Strategy.ROWAN));
        report.known(
                "Batch / RWrite, A and Load",
                "1.23, 1.35",
                peak(results, scale, Mix.A, Strategy.BATCH) / peak(results, scale, Mix.A, Strategy.RWRITE),
                peak(results, scale, Mix.LOAD, Strategy.BATCH) / peak(results, scale, Mix.LOAD, Strategy.RWRITE));
        report.known(
                "B: get of Rowan / RPC, p50",
                "1.27",
                results.value("get_p50", Mix.B, Strategy.ROWAN.label(), scale.leastClients())
                        / results.value("get_p50", Mix.B, Strategy.RPC.label(), scale.leastClients()));
        report.known(
                "A: put of Rowan at 50 M/s, p99, us", "20.5", at(results, scale, Mix.A, Strategy.ROWAN, "put_p99", 50));
        report.known("uniform keys / skewed keys", "0.934 (no processor caches in the model)", 1);
    }

    private static double peak(Results results, Scale scale, Mix mix, Strategy strategy) {
        return results.largest("mops", scale.clients(), mix, strategy.label());
    }

    private static double ratio(Results results, Scale scale, Mix mix, Strategy other) {
        return peak(results, scale, mix, Strategy.ROWAN) / peak(results, scale, mix, other);
    }

    /** Just before the peak: at the peak itself latency is the number of clients. */
    private static double atPeakOfRpc(Results results, Scale scale, Mix mix) {
        final double mops = NEAR_PEAK * peak(results, scale, mix, Strategy.RPC);
        return at(results, scale, mix, Strategy.RPC, "put_p50", mops)
                / at(results, scale, mix, Strategy.ROWAN, "put_p50", mops);
    }

    /** A latency at a throughput, between the points around it. */
    private static double at(Results results, Scale scale, Mix mix, Strategy strategy, String column, double mops) {
        final List<Double> rates = results.over("mops", scale.clients(), mix, strategy.label());
        final List<Double> latencies = results.over(column, scale.clients(), mix, strategy.label());
        for (int i = 1; i < rates.size(); i++) {
            if (rates.get(i) >= mops) {
                final double share = (mops - rates.get(i - 1)) / (rates.get(i) - rates.get(i - 1));
                return latencies.get(i - 1) + Math.max(0, share) * (latencies.get(i) - latencies.get(i - 1));
            }
        }
        return latencies.get(latencies.size() - 1);
    }

    /** Up to the first rate near the peak: more clients then wait longer, and do no more. */
    private static List<Double> toKnee(List<Double> rates) {
        final double peak =
                rates.stream().mapToDouble(Double::doubleValue).max().orElseThrow();
        final double knee = rates.stream()
                .mapToDouble(Double::doubleValue)
                .filter(each -> each >= KNEE * peak)
                .findFirst()
                .orElseThrow();
        return rates.subList(0, rates.indexOf(knee) + 1);
    }
}
