package org.rowankv.bench.trace;

import java.io.PrintStream;
import java.util.Locale;

/** Expectations of a traced run and its replays. Confined to one thread. */
final class TraceBars {
    private static final double MOST = 1.06;
    private static final double WANTED = 1.032;
    private static final double LEAST_GAP = 0.2;

    private final PrintStream out;
    private int count;
    private int missed;

    TraceBars(PrintStream out) {
        this.out = out;
    }

    private void bar(String name, boolean met, String found) {
        count++;
        missed += met ? 0 : 1;
        out.printf(Locale.ROOT, "  %-70s %s  %s%n", name, found, met ? "met" : "MISSED");
    }

    /** What the tap has seen is what happened. */
    void judge(TracedRun run) {
        final WriteTrace trace = run.trace();
        equal("bytes of the t-logs, as the servers count them", trace.allBytes(WriteOwner.WORKER), run.tLogBytes());
        equal("bytes of the b-logs, as the servers count them", trace.allBytes(WriteOwner.BACKUP), run.bLogBytes());
        equal("bytes cleaned, as the servers count them", trace.allBytes(WriteOwner.CLEAN), run.relocatedBytes());
        bar("entries cleaned meanwhile", trace.entries(WriteOwner.CLEAN) > 0, "" + trace.entries(WriteOwner.CLEAN));
        equal("landings that overlap, or leave a gap", run.misplacedLandings(), 0);
        equal("operations without one landing on each backup", run.incompleteOperations(), 0);
    }

    private void equal(String name, long found, long expected) {
        bar(name, found == expected, found + " = " + expected);
    }

    void judge(TraceReplay.Outcome replayed) {
        equal(
                "bytes as " + replayed.strategy().title() + " places them",
                replayed.requestedBytes(),
                replayed.placedBytes());
    }

    void judge(double rowan, double rWrite) {
        bar("DLWA, Rowan", rowan < MOST, format(rowan) + " < " + format(MOST));
        out.printf(Locale.ROOT, "  %-70s %s  %s%n", "    wanted: at most " + WANTED, format(rowan), rowan <= WANTED);
        bar("DLWA, RWrite beyond Rowan", rWrite - rowan >= LEAST_GAP, format(rWrite - rowan) + " >= " + LEAST_GAP);
    }

    private static String format(double value) {
        return String.format(Locale.ROOT, "%.3f", value);
    }

    int count() {
        return count;
    }

    int missed() {
        return missed;
    }
}
