package org.rowankv.bench.paper.figure;

import java.util.ArrayList;
import java.util.List;
import org.rowankv.bench.paper.cluster.ClusterPoint;
import org.rowankv.bench.paper.cluster.EntrySizes;
import org.rowankv.bench.paper.cluster.Strategy;
import org.rowankv.bench.paper.plot.Panel;
import org.rowankv.bench.paper.plot.Series;

/** Figure 13: entry length, replicas, workers and DIMMs. */
final class SensitivityFigure implements Figure {
    private static final List<Integer> LENGTHS = List.of(64, 128, 256, 512, 1024);
    private static final List<Integer> REPLICAS = List.of(1, 2, 3, 4, 5);
    private static final List<Integer> WORKERS = List.of(8, 16, 24, 32);
    private static final List<Integer> DIMMS = List.of(1, 2, 3);
    private static final String A = "a";
    private static final String B = "b";
    private static final String C = "c";
    private static final String D = "d";

    @Override
    public String name() {
        return "13";
    }

    @Override
    public String title() {
        return "Figure 13 (model): sensitivity";
    }

    @Override
    public List<String> labelColumns() {
        return List.of("part", "strategy", "x");
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
            LENGTHS.forEach(each -> add(points, A, each, cell.withSizes(EntrySizes.fixed(each))));
            REPLICAS.forEach(each -> add(points, B, each, cell.withReplicas(each)));
            WORKERS.forEach(each -> add(points, C, each, cell.withWorkers(each)));
            DIMMS.forEach(each -> add(points, D, each, cell.withDimms(each)));
        }
        return points;
    }

    private static void add(List<Point> points, String part, int x, ClusterPoint cell) {
        points.add(Point.of(
                seed -> ClusterCells.rates(cell, seed), part, cell.strategy().label(), x));
    }

    @Override
    public List<Panel> panels(Results results, Scale scale) {
        return List.of(
                panel(results, A, "entry length", "bytes", LENGTHS),
                panel(results, B, "replicas", "replicas", REPLICAS),
                panel(results, C, "worker threads", "workers of a server", WORKERS),
                panel(results, D, "persistent memory", "DIMMs of a server", DIMMS));
    }

    private static Panel panel(Results results, String part, String title, String xName, List<Integer> xs) {
        final List<Series> series = ClusterCells.OF_THE_PAPER.stream()
                .map(each -> results.line(each.title(), "mops", xs, part, each.label()))
                .toList();
        return Panel.lines("(" + part + ") " + title, xName, "million operations/s", series);
    }

    @Override
    public void judge(Results results, Scale scale, ReportLines report) {
        for (int length : List.of(256, 1024)) {
            report.between(
                    "RWrite / Rowan, " + length + " B",
                    "similar",
                    1 / gain(results, A, Strategy.RWRITE, length),
                    0.9,
                    1.1);
            report.below(
                    "DLWA of RWrite, " + length + " B",
                    "about 1",
                    results.value("dlwa", A, Strategy.RWRITE.label(), length),
                    1.1);
        }
        report.atLeast("Rowan / RWrite, 128 B", "a gap", gain(results, A, Strategy.RWRITE, 128), 1.15);
        report.known("RPC / Rowan, 1024 B", "0.79", 1 / gain(results, A, Strategy.RPC, 1024));
        for (Strategy other : List.of(Strategy.RPC, Strategy.RWRITE)) {
            final List<Double> gains =
                    REPLICAS.stream().map(each -> gain(results, B, other, each)).toList();
            report.rises("Rowan / " + other.title() + ", 1 to 5 replicas", "grows", gains);
            report.atLeast(
                    "Rowan / " + other.title() + ", 5 replicas",
                    "more than with 3",
                    gains.get(gains.size() - 1),
                    other == Strategy.RPC ? 1.3 : 1.5);
        }
        for (int workers : List.of(8, 16)) {
            double least = Double.MAX_VALUE;
            for (Strategy other : ClusterCells.OF_THE_PAPER) {
                if (other != Strategy.RPC) {
                    least = Math.min(least, results.value("mops", C, other.label(), workers));
                }
            }
            report.below(
                    "RPC / the lowest other, " + workers + " workers",
                    "RPC is lowest",
                    results.value("mops", C, Strategy.RPC.label(), workers) / least,
                    1);
        }
        report.between(
                "spread of one cell in parts b, c and d",
                "chance of its own for each point",
                spread(results, Strategy.ROWAN),
                1e-9,
                0.05);
        report.below("RWrite, 32 / 24 workers", "flat", moreWorkers(results, Strategy.RWRITE), 1.1);
        report.atLeast("Rowan, 32 / 24 workers", "grows", moreWorkers(results, Strategy.ROWAN), 1.15);
        report.between("Rowan / RWrite, 1 DIMM", "1.61", gain(results, D, Strategy.RWRITE, 1), 1.35, 1.9);
        report.atLeast(
                "Share / RWrite, 1 DIMM",
                "1.28",
                gain(results, D, Strategy.RWRITE, 1) / gain(results, D, Strategy.SHARE, 1),
                1.1);
        report.below(
                "media of Rowan / peak, 3 DIMMs",
                "not saturated",
                results.value("media_gbps", D, Strategy.ROWAN.label(), 3)
                        / (org.rowankv.bench.paper.memory.MemorySettings.OF_THE_PAPER.mediaBytesPerSecond() / 1e9),
                0.85);
    }

    private static double gain(Results results, String part, Strategy other, int x) {
        return results.value("mops", part, Strategy.ROWAN.label(), x) / results.value("mops", part, other.label(), x);
    }

    /** The same cell stands in three parts, and is simulated for each of them. */
    private static double spread(Results results, Strategy strategy) {
        final double[] same = List.of(
                        results.value("mops", B, strategy.label(), ClusterCells.REPLICAS),
                        results.value("mops", C, strategy.label(), ClusterCells.WORKERS),
                        results.value("mops", D, strategy.label(), ClusterCells.DIMMS))
                .stream()
                .mapToDouble(Double::doubleValue)
                .sorted()
                .toArray();
        return same[same.length - 1] / same[0] - 1;
    }

    private static double moreWorkers(Results results, Strategy strategy) {
        return results.value("mops", C, strategy.label(), 32) / results.value("mops", C, strategy.label(), 24);
    }
}
