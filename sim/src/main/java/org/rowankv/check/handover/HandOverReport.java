package org.rowankv.check.handover;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.rowankv.check.chaos.OutageTable;

/** The longest times without an answer, in hand-overs and in controls. For one thread. */
public final class HandOverReport {
    private static final int MEDIAN = 50;
    private static final int TAIL = 99;
    private static final int ALL = 100;
    private static final double NS_PER_MS = 1e6;
    private static final double TARGET_MEDIAN_MS = 5;
    private static final double TARGET_TAIL_MS = 20;

    private final List<Long> puts = new ArrayList<>();
    private final List<Long> gets = new ArrayList<>();
    private final List<Long> took = new ArrayList<>();
    private final List<Long> controlPuts = new ArrayList<>();
    private final List<Long> controlGets = new ArrayList<>();
    private long failures;

    void handedOver(long putsNs, long getsNs, long tookNs) {
        puts.add(putsNs);
        gets.add(getsNs);
        took.add(tookNs);
    }

    void control(long putsNs, long getsNs) {
        controlPuts.add(putsNs);
        controlGets.add(getsNs);
    }

    void failures(long count) {
        failures = count;
    }

    /** Whether shards were handed over, and no operation failed. */
    public boolean isWell() {
        return failures == 0 && !puts.isEmpty();
    }

    /** Prints it beside the targets; a target that is missed is no failure. */
    public void print(PrintStream out) {
        out.printf("  ms without an answer %10s %8s %8s%n", "p50", "p99", "max");
        line(out, "puts, handed over", puts);
        line(out, "puts, control", controlPuts);
        line(out, "gets, handed over", gets);
        line(out, "gets, control", controlGets);
        line(out, "the whole transfer", took);
        if (!puts.isEmpty()) {
            out.printf(
                    Locale.ROOT,
                    "  target of puts: p50 < %.0f ms: %s, p99 < %.0f ms: %s%n",
                    TARGET_MEDIAN_MS,
                    at(puts, MEDIAN) < TARGET_MEDIAN_MS ? "reached" : "MISSED",
                    TARGET_TAIL_MS,
                    at(puts, TAIL) < TARGET_TAIL_MS ? "reached" : "MISSED");
        }
        out.printf(
                Locale.ROOT,
                "bench handover: transfers=%d put_p50_ms=%.1f put_p99_ms=%.1f get_p50_ms=%.1f get_p99_ms=%.1f failures=%d%n",
                puts.size(),
                at(puts, MEDIAN),
                at(puts, TAIL),
                at(gets, MEDIAN),
                at(gets, TAIL),
                failures);
    }

    private static void line(PrintStream out, String what, List<Long> timesNs) {
        out.printf(
                Locale.ROOT,
                "  %-20s %10.1f %8.1f %8.1f%n",
                what,
                at(timesNs, MEDIAN),
                at(timesNs, TAIL),
                at(timesNs, ALL));
    }

    private static double at(List<Long> timesNs, int percent) {
        return timesNs.isEmpty() ? 0 : OutageTable.percentile(timesNs, percent) / NS_PER_MS;
    }
}
