package org.rowankv.bench.store;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.function.ToDoubleFunction;
import org.HdrHistogram.Histogram;
import org.rowankv.bench.report.KeyDraws;
import org.rowankv.bench.report.KeySpace;
import org.rowankv.bench.report.TargetTable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code rowan bench cleaning}: steady overwrites of a nearly full store, compared with one whose cleaner is idle. */
@Command(
        name = "cleaning",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Overwrites the objects of nearly full stores with one thread, round after round, compared with a store so large"
                    + " that its cleaner is idle: the share of the rate that is left, bytes copied per byte written beside the"
                    + " theoretical value, and the wait of an operation at half of the peak rate, counted from when it was"
                    + " due.",
            "Each line of the last table shows the target and whether it was met, from medians of all rounds; the exit"
                    + " code is 0 either way."
        })
public final class CleaningCommand implements Callable<Integer> {
    private static final double THETA = 0.99;
    private static final double LEAST_SHARE = 0.6;
    private static final double MOST_WAIT = 2;
    /** Average overwrites per object in the idle store: after two, segments are nearly empty. */
    private static final double IDLE_TURNS = 1.5;

    private static final double IDLE_CAPACITY = 3.2;
    /** Overwrites before the measurement, as a multiple of the capacity: the copy rate is steady then. */
    private static final int SETTLING = 2;

    private static final int SETTLING_SKEWED = 4;
    private static final int DEFAULT_FILL = 88;
    private static final int HIGH_FILL = 98;

    @Option(
            names = "--rounds",
            description = "maximum number of rounds of all measurements, interleaved (default: ${DEFAULT-VALUE})")
    private int rounds = 3;

    @Option(
            names = "--seconds",
            description =
                    "time limit in seconds: no round begins that would exceed it, by the length of the one before; one always runs"
                            + " (default: ${DEFAULT-VALUE})")
    private int seconds = 210;

    @Option(
            names = "--capacity",
            description = "capacity of each nearly full store, in MiB (default: ${DEFAULT-VALUE})")
    private int capacityMib = 256;

    @Option(
            names = "--millions",
            description = "millions of overwrites in each measurement (default: ${DEFAULT-VALUE})")
    private double millions = 2;

    private final PrintStream out = System.out;
    private final long startNs = System.nanoTime();

    /** The runs of one kind, one per round. */
    private static final class Cell {
        final String name;
        final List<OverwrittenStore.Run> runs = new ArrayList<>();

        Cell(String name) {
            this.name = name;
        }

        double median(ToDoubleFunction<OverwrittenStore.Run> figure) {
            return CleaningCommand.median(
                    runs.stream().mapToDouble(figure).boxed().toList());
        }
    }

    private final Cell idleUniform = new Cell("idle, uniform");
    private final Cell idleZipf = new Cell("idle, Zipf");
    private final Cell uniform80 = new Cell("80 %, uniform");
    private final Cell zipf80 = new Cell("80 %, Zipf");
    private final Cell uniform90 = new Cell("90 %, uniform");
    private final List<Double> waitRatios = new ArrayList<>();
    private final List<Double> idleWaits = new ArrayList<>();
    private final List<Double> steadyWaits = new ArrayList<>();

    @Override
    public Integer call() {
        if (rounds < 1 || seconds < 1 || capacityMib < 64 || millions <= 0) {
            System.err.println(
                    "bench: --rounds and --seconds must be at least 1, --capacity 64 and --millions more than 0");
            return 2;
        }
        final long capacity = (long) capacityMib << 20;
        final byte[][] keys80 = KeySpace.keys((int) (capacity * 0.8 / OverwrittenStore.ENTRY_LENGTH));
        final byte[][] keys90 = KeySpace.keys((int) (capacity * 0.9 / OverwrittenStore.ENTRY_LENGTH));
        final KeyDraws uniformOf80 = KeyDraws.uniform(keys80.length);
        final KeyDraws zipfOf80 = KeyDraws.zipf(keys80.length, THETA);
        final KeyDraws uniformOf90 = KeyDraws.uniform(keys90.length);
        out.println("bench cleaning: " + capacityMib + " MiB, " + keys80.length + " and " + keys90.length
                + " objects of " + OverwrittenStore.ENTRY_LENGTH + " bytes in the log, one writer, Zipf " + THETA + ", "
                + Runtime.getRuntime().availableProcessors() + " processors, Java " + Runtime.version());
        final long count = (long) (millions * 1e6);
        final long idleCount = (long) (IDLE_TURNS * keys80.length);
        final long idleCapacity = (long) (capacityMib * 0.8 * IDLE_CAPACITY) << 20;
        try (OverwrittenStore idle = new OverwrittenStore(idleCapacity, keys80, DEFAULT_FILL);
                OverwrittenStore uniform = new OverwrittenStore(capacity, keys80, DEFAULT_FILL);
                OverwrittenStore zipf = new OverwrittenStore(capacity, keys80, DEFAULT_FILL);
                OverwrittenStore full = new OverwrittenStore(capacity, keys90, HIGH_FILL)) {
            settle("idle", idle, uniformOf80, idleCapacity);
            settle("80 %, uniform", uniform, uniformOf80, SETTLING * capacity);
            settle("80 %, Zipf", zipf, zipfOf80, SETTLING_SKEWED * capacity);
            settle("90 %, uniform", full, uniformOf90, SETTLING * capacity);
            double longestRound = 0;
            for (int round = 1; round <= rounds && elapsed() + longestRound <= seconds || round == 1; round++) {
                final double begun = elapsed();
                final String name = "round " + round + " of " + rounds;
                progress(name + ": uniform");
                refill(idle);
                final double peak = measure(idleUniform, idle, uniformOf80, idleCount);
                measure(uniform80, uniform, uniformOf80, count);
                progress(name + ": Zipf");
                refill(idle);
                measure(idleZipf, idle, zipfOf80, idleCount);
                measure(zipf80, zipf, zipfOf80, count);
                progress(name + ": 90 %");
                measure(uniform90, full, uniformOf90, count);
                progress(name + ": waits at half of the peak");
                refill(idle);
                compareWaits(idle, uniform, uniformOf80, peak / 2, idleCount);
                longestRound = Math.max(longestRound, elapsed() - begun);
            }
        }
        check();
        return 0;
    }

    private double elapsed() {
        return (System.nanoTime() - startNs) / 1e9;
    }

    private void progress(String what) {
        System.err.printf(Locale.ROOT, "bench: %4.0f s  %s%n", elapsed(), what);
    }

    /** Fills a store and overwrites it until every page was touched and cleaning is in its steady state. */
    private void settle(String name, OverwrittenStore store, KeyDraws draws, long bytes) {
        progress("filling a store, and overwriting " + (bytes >> 20) + " MiB: " + name);
        store.load();
        store.overwrite(draws, bytes / OverwrittenStore.ENTRY_LENGTH);
    }

    private static void refill(OverwrittenStore store) {
        store.empty();
        store.load();
    }

    private double measure(Cell cell, OverwrittenStore store, KeyDraws draws, long count) {
        final OverwrittenStore.Run run = store.overwrite(draws, count);
        cell.runs.add(run);
        out.printf(
                Locale.ROOT,
                "  %-14s %6.3f M/s   copied %5.2f per byte written, alpha %.3f   agents %3.0f %% of a processor   %d"
                        + " segments cleaned%n",
                cell.name,
                run.perSecond() / 1e6,
                run.copied(),
                run.alpha(),
                100 * run.agents(),
                run.cleaned());
        out.flush();
        return run.perSecond();
    }

    private void compareWaits(
            OverwrittenStore idle, OverwrittenStore steady, KeyDraws draws, double perSecond, long count) {
        final Histogram of = new Histogram(3);
        idle.overwriteAt(perSecond, draws, count, of);
        final Histogram steadily = new Histogram(3);
        steady.overwriteAt(perSecond, draws, count, steadily);
        waitRatios.add((double) steadily.getValueAtPercentile(99) / of.getValueAtPercentile(99));
        idleWaits.add(of.getValueAtPercentile(99) / 1e3);
        steadyWaits.add(steadily.getValueAtPercentile(99) / 1e3);
        out.printf(Locale.ROOT, "  at %.3f M/s%n", perSecond / 1e6);
        tell("idle", of);
        tell("80 %, uniform", steadily);
    }

    private void tell(String name, Histogram waits) {
        out.printf(
                Locale.ROOT,
                "    %-14s waits: p50 %8.2f   p90 %8.2f   p99 %8.2f   p99.9 %9.2f   longest %9.2f us%n",
                name,
                waits.getValueAtPercentile(50) / 1e3,
                waits.getValueAtPercentile(90) / 1e3,
                waits.getValueAtPercentile(99) / 1e3,
                waits.getValueAtPercentile(99.9) / 1e3,
                waits.getMaxValue() / 1e3);
    }

    private void check() {
        final TargetTable table = new TargetTable(out);
        final double idle = idleUniform.median(OverwrittenStore.Run::perSecond);
        out.println();
        table.atLeast("uniform, 80 % live, against an idle cleaner", ratio(uniform80, idleUniform), LEAST_SHARE, "x");
        table.atLeast("Zipf, 80 % live, against an idle cleaner", ratio(zipf80, idleZipf), LEAST_SHARE, "x");
        table.shown("uniform, 90 % live, against an idle cleaner", ratio(uniform90, idleUniform), "x");
        copied(table, uniform80);
        copied(table, zipf80);
        copied(table, uniform90);
        table.atMost("p99 at half of the peak, in p99 with an idle cleaner", median(waitRatios), MOST_WAIT, "x");
        table.shown("    p99 with an idle cleaner", median(idleWaits), "us");
        table.shown("    p99 while it cleans, uniform, 80 % live", median(steadyWaits), "us");
        table.shown("the peak: one writer, uniform, idle cleaner", idle / 1e6, "M/s");
        for (Cell cell : List.of(idleUniform, uniform80, zipf80, uniform90)) {
            table.shown("agents, " + cell.name, 100 * cell.median(OverwrittenStore.Run::agents), "% of a processor");
        }
        out.println("bench cleaning: " + idleUniform.runs.size() + " rounds in "
                + String.format(Locale.ROOT, "%.0f s, ", elapsed())
                + (table.missed() == 0 ? "all targets reached" : table.missed() + " targets missed"));
    }

    private static double ratio(Cell cell, Cell base) {
        final List<Double> ratios = new ArrayList<>();
        for (int i = 0; i < cell.runs.size(); i++) {
            ratios.add(cell.runs.get(i).perSecond() / base.runs.get(i).perSecond());
        }
        return median(ratios);
    }

    private static void copied(TargetTable table, Cell cell) {
        table.shown("copied per byte written, " + cell.name, cell.median(OverwrittenStore.Run::copied), "");
        table.shown(
                "    uniform overwrites in theory, by what lived in what was not free",
                CopyTheory.copiedPerWritten(cell.median(OverwrittenStore.Run::alpha)),
                "");
    }

    private static double median(List<Double> values) {
        final List<Double> sorted = new ArrayList<>(values);
        Collections.sort(sorted);
        final int middle = sorted.size() / 2;
        return sorted.size() % 2 == 1 ? sorted.get(middle) : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
    }
}
