package org.rowankv.bench.paper.figure;

import java.util.List;
import org.rowankv.bench.paper.model.HintModel;
import org.rowankv.bench.paper.plot.Panel;
import org.rowankv.bench.paper.plot.Series;

/** Hints of the ATC'21 study: those that a model of memory and card can show. H1, H2, H4 and H7 are not among them. */
final class HintsFigure implements Figure {
    private static final long CACHED_SECTORS = 400_000;
    private static final List<Integer> PADDED = List.of(16, 64, 256);

    @Override
    public String name() {
        return "h";
    }

    @Override
    public String title() {
        return "Hints (model): writes padded to 64 and 256 bytes; locks";
    }

    @Override
    public List<String> labelColumns() {
        return List.of("hint", "variant");
    }

    @Override
    public List<String> valueColumns() {
        return List.of("value");
    }

    @Override
    public List<Point> points(Scale scale) {
        return List.of(
                Point.of(seed -> List.of(HintModel.randomWrites(16, scale.streamNs(), seed)), "H6", 16),
                Point.of(seed -> List.of(HintModel.randomWrites(64, scale.streamNs(), seed)), "H6", 64),
                Point.of(seed -> List.of(HintModel.randomWrites(256, scale.streamNs(), seed)), "H6", 256),
                Point.of(seed -> List.of(HintModel.amplificationOfOneStream(true, CACHED_SECTORS, seed)), "H3", "on"),
                Point.of(seed -> List.of(HintModel.amplificationOfOneStream(false, CACHED_SECTORS, seed)), "H3", "off"),
                Point.of(seed -> List.of(HintModel.persistUs(true, seed)), "H9", "one post"),
                Point.of(seed -> List.of(HintModel.persistUs(false, seed)), "H9", "two posts"),
                Point.of(seed -> List.of(HintModel.lockedWrites(true, scale.streamNs(), seed)), "H8", "PM"),
                Point.of(seed -> List.of(HintModel.lockedWrites(false, scale.streamNs(), seed)), "H8", "DRAM"));
    }

    @Override
    public List<Panel> panels(Results results, Scale scale) {
        return List.of(
                Panel.bars(
                        "H5, H6: 16 bytes, padded to",
                        "million writes/s",
                        List.of("16 B", "64 B", "256 B"),
                        List.of(new Series(
                                "random writes",
                                List.of(0.0, 1.0, 2.0),
                                PADDED.stream()
                                        .map(each -> results.value("value", "H6", each))
                                        .toList()))),
                Panel.bars(
                        "H8: locks in",
                        "million entries/s",
                        List.of("PM", "DRAM"),
                        List.of(new Series(
                                "entries",
                                List.of(0.0, 1.0),
                                List.of(results.value("value", "H8", "PM"), results.value("value", "H8", "DRAM"))))));
    }

    @Override
    public void judge(Results results, Scale scale, ReportLines report) {
        final double raw = results.value("value", "H6", 16);
        final double sector = results.value("value", "H6", 64);
        final double line = results.value("value", "H6", 256);
        report.atLeast("H6: padded to 64 B / to 256 B", "45 / 34 M/s", sector / line, 1.2);
        report.atLeast("H5: padded to 256 B / raw", "34 / 30 M/s", line / raw, 1);
        report.between("H3: DLWA with DDIO (calibrated)", "about 2", results.value("value", "H3", "on"), 1.7, 2.3);
        report.below("H3: DLWA without DDIO", "1", results.value("value", "H3", "off"), 1.03);
        report.between(
                "H9: one post / two",
                "3 / 4 us",
                results.value("value", "H9", "one post") / results.value("value", "H9", "two posts"),
                0.7,
                0.8);
        report.atLeast(
                "H8: locks in DRAM / in PM",
                "1.17 to 1.19 end to end",
                results.value("value", "H8", "DRAM") / results.value("value", "H8", "PM"),
                1);
    }
}
