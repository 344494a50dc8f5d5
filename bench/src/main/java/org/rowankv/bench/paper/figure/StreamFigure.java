package org.rowankv.bench.paper.figure;

import java.util.ArrayList;
import java.util.List;
import org.rowankv.bench.paper.memory.MemorySettings;
import org.rowankv.bench.paper.model.StreamModel;
import org.rowankv.bench.paper.model.StreamModel.Placement;
import org.rowankv.bench.paper.plot.Panel;
import org.rowankv.bench.paper.plot.Series;

/** Figures 2 and 8: streams of writes into one server. The second has Rowan beside the first's writes. */
final class StreamFigure implements Figure {
    private static final int LOCAL = 18;
    private static final int MANY = 144;
    private static final List<Integer> LENGTHS = List.of(64, 128);
    private static final List<Integer> LOCALS = List.of(0, LOCAL);
    private static final String DIMMS = "144 streams by DIMMs";

    private final boolean withRowan;

    private StreamFigure(boolean withRowan) {
        this.withRowan = withRowan;
    }

    static StreamFigure two() {
        return new StreamFigure(false);
    }

    static StreamFigure eight() {
        return new StreamFigure(true);
    }

    @Override
    public String name() {
        return withRowan ? "8" : "2";
    }

    @Override
    public String title() {
        return withRowan
                ? "Figure 8 (model): Rowan and WRITE by remote streams"
                : "Figure 2 (model): DLWA of WRITE by remote streams";
    }

    @Override
    public List<String> labelColumns() {
        return List.of("placement", "size", "local", "dimms", "streams");
    }

    @Override
    public List<String> valueColumns() {
        return List.of("dlwa", "media_gbps", "request_gbps", "local_gbps", "mops");
    }

    private List<Placement> placements() {
        return withRowan ? List.of(Placement.ROWAN, Placement.WRITE) : List.of(Placement.WRITE);
    }

    @Override
    public List<Point> points(Scale scale) {
        final List<Point> points = new ArrayList<>();
        for (Placement placement : placements()) {
            for (int length : LENGTHS) {
                for (int local : LOCALS) {
                    for (int streams : streamsOf(local, scale)) {
                        points.add(point(scale, placement, length, local, 3, streams));
                    }
                }
            }
        }
        if (!withRowan) {
            for (int dimms : List.of(1, 2, 6)) {
                points.add(point(scale, Placement.WRITE, 64, 0, dimms, MANY));
            }
        }
        return points;
    }

    private static List<Integer> streamsOf(int local, Scale scale) {
        final List<Integer> streams = new ArrayList<>(scale.streams());
        if (local > 0) {
            streams.add(0, 0);
        }
        return streams;
    }

    private static Point point(Scale scale, Placement placement, int length, int local, int dimms, int streams) {
        return Point.of(
                seed -> {
                    final StreamModel.Result result = StreamModel.run(
                            placement,
                            streams,
                            length,
                            local,
                            MemorySettings.OF_THE_PAPER.withDimms(dimms),
                            scale.streamNs(),
                            seed);
                    return List.of(
                            result.amplification(),
                            result.mediaGbps(),
                            result.requestGbps(),
                            result.localGbps(),
                            result.millionsPerSecond());
                },
                placement,
                length,
                local,
                dimms,
                streams);
    }

    @Override
    public List<Panel> panels(Results results, Scale scale) {
        final List<Panel> panels = new ArrayList<>();
        for (int local : LOCALS) {
            for (int length : LENGTHS) {
                final List<Series> series = placements().stream()
                        .map(each -> results.line(each.name(), "dlwa", streamsOf(local, scale), each, length, local, 3))
                        .toList();
                panels.add(Panel.lines(length + " B, " + local + " local cores", "remote streams", "DLWA", series));
            }
        }
        panels.add(Panel.lines(
                "available bandwidth, 18 local cores",
                "remote streams",
                "request GB/s",
                LENGTHS.stream()
                        .map(length -> results.line(
                                length + " B",
                                "request_gbps",
                                streamsOf(LOCAL, scale),
                                Placement.WRITE,
                                length,
                                LOCAL,
                                3))
                        .toList()));
        if (withRowan) {
            final List<Series> peaks = placements().stream()
                    .map(each -> {
                        final List<Double> values = new ArrayList<>();
                        LOCALS.forEach(local ->
                                LENGTHS.forEach(length -> values.add(peak(results, scale, each, length, local))));
                        return new Series(each.name(), List.of(0.0, 1.0, 2.0, 3.0), values);
                    })
                    .toList();
            panels.add(Panel.bars(
                    "peak", "million writes/s", List.of("64 B", "128 B", "64 B + local", "128 B + local"), peaks));
        }
        return panels;
    }

    private static double peak(Results results, Scale scale, Placement placement, int length, int local) {
        return results.largest("mops", scale.streams(), placement, length, local, 3);
    }

    @Override
    public void judge(Results results, Scale scale, ReportLines report) {
        if (withRowan) {
            judgeRowan(results, scale, report);
        } else {
            judgeWrites(results, report);
        }
    }

    private static void judgeWrites(Results results, ReportLines report) {
        report.between("DLWA at 144 streams, 64 B", "2.48", of(results, "dlwa", 64, 0, MANY), 2.1, 2.8);
        report.between("DLWA at 144 streams, 128 B", "1.58", of(results, "dlwa", 128, 0, MANY), 1.4, 1.75);
        report.below("DLWA at 90 streams, 64 B", "about 1", of(results, "dlwa", 64, 0, 90), 1.05);
        report.below("DLWA at 90 streams, 128 B", "about 1", of(results, "dlwa", 128, 0, 90), 1.05);
        report.atLeast(
                "DLWA behind the knee, 126 streams, 64 B", "rises from 90", of(results, "dlwa", 64, 0, 126), 1.3);
        report.between("DLWA with local, 64 B", "2.49", of(results, "dlwa", 64, LOCAL, MANY), 2.1, 2.8);
        report.between("DLWA with local, 128 B", "1.70", of(results, "dlwa", 128, LOCAL, MANY), 1.45, 1.9);
        report.between("available bandwidth lost, 64 B", "60 %", lost(results, 64), 0.5, 0.7);
        report.between("available bandwidth lost, 128 B", "41 %", lost(results, 128), 0.3, 0.5);
        report.falls(
                "DLWA of " + DIMMS + " 1, 2, 3, 6",
                "falls",
                List.of(
                        results.value("dlwa", Placement.WRITE, 64, 0, 1, MANY),
                        results.value("dlwa", Placement.WRITE, 64, 0, 2, MANY),
                        of(results, "dlwa", 64, 0, MANY),
                        results.value("dlwa", Placement.WRITE, 64, 0, 6, MANY)));
        report.input("GB/s of local cores alone", "5.4", of(results, "request_gbps", 128, LOCAL, 0));
    }

    private static double of(Results results, String column, int length, int local, int streams) {
        return results.value(column, Placement.WRITE, length, local, 3, streams);
    }

    private static double lost(Results results, int length) {
        return 1 - of(results, "request_gbps", length, LOCAL, MANY) / of(results, "request_gbps", length, LOCAL, 0);
    }

    private static void judgeRowan(Results results, Scale scale, ReportLines report) {
        for (int local : LOCALS) {
            for (int length : LENGTHS) {
                final String which = length + " B" + (local == 0 ? "" : " with local");
                report.below(
                        "largest DLWA of Rowan, " + which,
                        local == 0 ? "< 1.029" : "< 1.056",
                        results.largest("dlwa", scale.streams(), Placement.ROWAN, length, local, 3),
                        local == 0 ? 1.03 : 1.06);
                report.atLeast(
                        "Rowan / WRITE at 144 streams, " + which,
                        local == 0 ? "1.44, 1.43 (peaks)" : "1.85, 1.78 (peaks)",
                        results.value("mops", Placement.ROWAN, length, local, 3, MANY)
                                / of(results, "mops", length, local, MANY),
                        local == 0 ? 1.2 : 1.4);
            }
        }
        report.input("peak of Rowan, 64 B, M/s", "54.5", peak(results, scale, Placement.ROWAN, 64, 0));
        report.between(
                "peak of Rowan, 128 B, M/s",
                "42.2",
                peak(results, scale, Placement.ROWAN, 128, 0),
                42.2 * 0.75,
                42.2 * 1.25);
    }
}
