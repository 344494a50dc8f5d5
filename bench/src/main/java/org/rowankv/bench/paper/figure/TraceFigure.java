package org.rowankv.bench.paper.figure;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.rowankv.bench.paper.cluster.Strategy;
import org.rowankv.bench.paper.plot.Panel;
import org.rowankv.bench.paper.plot.Series;
import org.rowankv.bench.trace.TraceReplay;
import org.rowankv.bench.trace.TracedRun;
import org.rowankv.bench.trace.WriteOwner;

/** Figure 10 for what the product writes: one trace, replayed for each strategy. */
final class TraceFigure implements Figure {
    private static final String OURS = "ours";
    private static final String PAPERS = "paper";
    private static final double LEAST_GAP = 0.2;

    @Override
    public String name() {
        return "10t";
    }

    @Override
    public String title() {
        return "Figure 10 (trace of the product, model of memory): DLWA";
    }

    @Override
    public Tier tier() {
        return Tier.TRACE;
    }

    @Override
    public List<String> labelColumns() {
        return List.of("lengths", "strategy");
    }

    @Override
    public List<String> valueColumns() {
        final List<String> columns = new ArrayList<>(List.of("dlwa", "entries"));
        for (WriteOwner owner : WriteOwner.values()) {
            columns.add(owner.label() + "_bytes");
        }
        columns.addAll(List.of("cleaned", "unequal_bytes", "uncounted_bytes", "misplaced", "incomplete"));
        return columns;
    }

    @Override
    public List<Point> points(Scale scale) {
        final FutureTask<TracedRun> traced = new FutureTask<>(() -> TracedRun.run(scale.tracedObjects()));
        final List<Point> points = new ArrayList<>();
        for (String lengths : List.of(OURS, PAPERS)) {
            for (Strategy strategy : Strategy.values()) {
                points.add(Point.of(
                        seed -> row(resultOf(traced), strategy, lengths.equals(PAPERS), seed),
                        lengths,
                        strategy.label()));
            }
        }
        return points;
    }

    /** The first caller runs it; later ones wait. */
    private static TracedRun resultOf(FutureTask<TracedRun> traced) {
        traced.run();
        try {
            return traced.get();
        } catch (ExecutionException e) {
            throw new IllegalStateException("the traced run failed", e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }

    private static List<Double> row(TracedRun run, Strategy strategy, boolean papers, long seed) {
        final TraceReplay.Outcome outcome = run.replay(strategy, papers, seed);
        final List<Double> row = new ArrayList<>();
        row.add(outcome.writeAmplification());
        row.add((double)
                Arrays.stream(WriteOwner.values()).mapToLong(run::entries).sum());
        for (WriteOwner owner : WriteOwner.values()) {
            row.add((double) run.bytes(owner));
        }
        row.add((double) run.entries(WriteOwner.CLEAN));
        row.add((double) Math.abs(outcome.requestedBytes() - outcome.placedBytes()));
        row.add((double) run.uncountedBytes());
        row.add((double) run.misplacedLandings());
        row.add((double) run.incompleteOperations());
        return row;
    }

    @Override
    public List<Panel> panels(Results results, Scale scale) {
        final List<String> groups = Arrays.stream(Strategy.values())
                .map(each -> each.title().replace("-KV", ""))
                .toList();
        return List.of(Panel.bars(
                "A, with cleaning",
                "media bytes / requested bytes",
                groups,
                List.of(series(results, "our entries", OURS), series(results, "paper's lengths", PAPERS))));
    }

    private static Series series(Results results, String name, String lengths) {
        final List<Double> places = new ArrayList<>();
        final List<Double> values = new ArrayList<>();
        for (Strategy strategy : Strategy.values()) {
            places.add((double) places.size());
            values.add(results.value("dlwa", lengths, strategy.label()));
        }
        return new Series(name, places, values);
    }

    @Override
    public void judge(Results results, Scale scale, ReportLines report) {
        final double rowan = results.value("dlwa", OURS, Strategy.ROWAN.label());
        report.below("A: Rowan", "< 1.032", rowan, 1.06);
        report.below("A: Rowan, strictly", "< 1.032", rowan, 1.032);
        report.atLeast(
                "A: RWrite less Rowan", "0.5", results.value("dlwa", OURS, Strategy.RWRITE.label()) - rowan, LEAST_GAP);
        report.atLeast("entries cleaned meanwhile", "some", any(results, "cleaned"), 1);
        report.none("bytes not placed, or twice", largest(results, "unequal_bytes"));
        report.none("bytes that servers count otherwise", any(results, "uncounted_bytes"));
        report.none("landings that overlap or leave gaps", any(results, "misplaced"));
        report.none("operations that lack a landing", any(results, "incomplete"));
    }

    /** A value that does not depend on the replay. */
    private static double any(Results results, String column) {
        return results.value(column, OURS, Strategy.ROWAN.label());
    }

    private static double largest(Results results, String column) {
        final List<String> strategies =
                Arrays.stream(Strategy.values()).map(Strategy::label).toList();
        return Math.max(results.largest(column, strategies, OURS), results.largest(column, strategies, PAPERS));
    }
}
