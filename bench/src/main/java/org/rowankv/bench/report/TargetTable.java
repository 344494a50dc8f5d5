package org.rowankv.bench.report;

import java.io.PrintStream;
import java.util.Locale;

/** Table of ratios, each with its target. Confined to one thread. */
public final class TargetTable {
    private final PrintStream out;
    private int missed;

    public TargetTable(PrintStream out) {
        this.out = out;
    }

    public void atMost(String what, double value, double target, String unit) {
        line(what, value, "<=", target, unit, value <= target);
    }

    /** Adds a ratio of elapsed times, checked against the target, and below it the ratio of the callers' CPU times. */
    public void atMost(String what, double value, double byCpu, double target) {
        line(what, value, "<=", target, "x", value <= target);
        out.printf(Locale.ROOT, "  %-62s %9.2f x%n", "    the same by the callers' CPU time", byCpu);
    }

    public void atLeast(String what, double value, double target, String unit) {
        line(what, value, ">=", target, unit, value >= target);
    }

    /** Adds a figure without a target. */
    public void shown(String what, double value, String unit) {
        out.printf(Locale.ROOT, "  %-62s %9.2f %-5s%n", what, value, unit);
    }

    private void line(String what, double value, String relation, double target, String unit, boolean reached) {
        missed += reached ? 0 : 1;
        out.printf(
                Locale.ROOT,
                "  %-62s %9.2f %-5s  target %s %-5.4s %s%n",
                what,
                value,
                unit,
                relation,
                String.format(Locale.ROOT, "%.1f", target),
                reached ? "reached" : "MISSED");
    }

    public int missed() {
        return missed;
    }
}
