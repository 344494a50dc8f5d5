package org.rowankv.bench.paper.figure;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.rowankv.bench.report.ObjectSizes;

/** Collects the lines of the report for one figure. */
final class ReportLines {
    private static final double MONOTONE_SLACK = 0.97;

    private final String figure;
    private final Tier tier;
    private final List<ReportLine> all = new ArrayList<>();

    ReportLines(String figure, Tier tier) {
        this.figure = figure;
        this.tier = tier;
    }

    List<ReportLine> all() {
        return all;
    }

    void between(String name, String paper, double value, double least, double most) {
        add(
                ReportLine.Kind.BAR,
                name,
                paper,
                number(value) + " in " + number(least) + ".." + number(most),
                value >= least && value <= most);
    }

    void atLeast(String name, String paper, double value, double least) {
        add(ReportLine.Kind.BAR, name, paper, number(value) + " >= " + number(least), value >= least);
    }

    void below(String name, String paper, double value, double limit) {
        add(ReportLine.Kind.BAR, name, paper, number(value) + " < " + number(limit), value < limit);
    }

    /** Rises from one value to the next, or falls by less than three percent. */
    void rises(String name, String paper, List<Double> values) {
        boolean met = true;
        for (int i = 1; i < values.size(); i++) {
            met &= values.get(i) >= values.get(i - 1) * MONOTONE_SLACK;
        }
        add(ReportLine.Kind.BAR, name, paper, numbers(values), met);
    }

    void falls(String name, String paper, List<Double> values) {
        boolean met = true;
        for (int i = 1; i < values.size(); i++) {
            met &= values.get(i) * MONOTONE_SLACK <= values.get(i - 1);
        }
        add(ReportLine.Kind.BAR, name, paper, numbers(values), met);
    }

    void known(String name, String paper, double... values) {
        add(
                ReportLine.Kind.KNOWN,
                name,
                paper,
                numbers(Arrays.stream(values).boxed().toList()),
                true);
    }

    void input(String name, String paper, double value) {
        add(ReportLine.Kind.INPUT, name, paper, number(value), true);
    }

    /** The deviation of objects' bytes, which our text of the paper does not give. */
    void inputSizes(ObjectSizes sizes, Scale scale) {
        input(
                sizes.name() + ": deviation of bytes",
                "(from memory)",
                scale.entries(sizes).objects().deviation());
    }

    /** Nothing of the kind happened. */
    void none(String name, double count) {
        add(ReportLine.Kind.BAR, name, "none", number(count), count == 0);
    }

    private void add(ReportLine.Kind kind, String name, String paper, String model, boolean met) {
        all.add(new ReportLine(tier, figure, kind, name, paper, model, met));
    }

    private static String numbers(List<Double> values) {
        return String.join(", ", values.stream().map(ReportLines::number).toList());
    }

    private static String number(double value) {
        return String.format(Locale.ROOT, Math.abs(value) < 20 ? "%.3f" : "%.1f", value);
    }
}
