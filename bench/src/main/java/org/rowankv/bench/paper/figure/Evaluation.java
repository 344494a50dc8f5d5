package org.rowankv.bench.paper.figure;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import org.rowankv.bench.paper.model.EntityRandom;
import org.rowankv.bench.paper.plot.SvgPlot;

/**
 * Simulates the points of figures on some threads, and writes what came out. A point's randomness follows from the seed
 * and the point alone, so that neither threads nor the choice of figures change a byte.
 */
public final class Evaluation {
    private static final List<Figure> ALL = List.of(
            StreamFigure.two(),
            StreamFigure.eight(),
            new LatencyFigure(),
            new AmplificationFigure(),
            new TraceFigure(),
            new PersistFigure(),
            new SensitivityFigure(),
            new SizesTable(),
            new HintsFigure());
    private static final int PROGRESS_STEPS = 20;

    /** What came out of one figure. */
    private record Outcome(Figure figure, Results results, CsvTable table) {
        String svg(EvaluationPlan plan) {
            return SvgPlot.of(figure.title(), plan.origin(), figure.panels(results, plan.scale()));
        }
    }

    private record Task(Outcome outcome, Point point, long seed, Future<List<Double>> row) {}

    private final EvaluationPlan plan;
    private final List<Outcome> outcomes = new ArrayList<>();

    private Evaluation(EvaluationPlan plan) {
        this.plan = plan;
    }

    /** Names of all figures, as {@code --figure} takes them. */
    public static List<String> names() {
        return ALL.stream().map(Figure::name).toList();
    }

    /**
     * Simulates.
     *
     * @param progress is given a line now and then
     */
    public static Evaluation run(EvaluationPlan plan, int threads, Consumer<String> progress) {
        final Evaluation evaluation = new Evaluation(plan);
        final ExecutorService executor = Executors.newFixedThreadPool(threads);
        try {
            evaluation.collect(evaluation.submit(executor), progress);
        } finally {
            executor.shutdownNow();
        }
        return evaluation;
    }

    private List<Task> submit(ExecutorService executor) {
        final List<Task> tasks = new ArrayList<>();
        for (Figure figure : ALL) {
            if (!plan.figures().contains(figure.name())) {
                continue;
            }
            final Outcome outcome = new Outcome(
                    figure,
                    new Results(figure.valueColumns()),
                    new CsvTable(figure.tier(), plan, figure.labelColumns(), figure.valueColumns()));
            outcomes.add(outcome);
            for (Point point : figure.points(plan.scale())) {
                for (int i = 0; i < plan.seeds(); i++) {
                    final long seed = plan.seed() + i;
                    final long own = EntityRandom.seedOf(seed, figure.name() + point.labels());
                    tasks.add(new Task(
                            outcome,
                            point,
                            seed,
                            executor.submit(() -> point.simulation().apply(own))));
                }
            }
        }
        return tasks;
    }

    private void collect(List<Task> tasks, Consumer<String> progress) {
        int done = 0;
        for (Task task : tasks) {
            final List<Double> row = rowOf(task);
            task.outcome.results.add(task.point.labels(), row);
            task.outcome.table.add(task.seed, task.point.labels(), row);
            done++;
            if (done * PROGRESS_STEPS / tasks.size() != (done - 1) * PROGRESS_STEPS / tasks.size()) {
                progress.accept(done + " of " + tasks.size() + " runs, figure " + task.outcome.figure.name());
            }
        }
    }

    private static List<Double> rowOf(Task task) {
        try {
            return task.row.get();
        } catch (ExecutionException e) {
            throw new IllegalStateException(
                    "figure " + task.outcome.figure.name() + ", point " + task.point.labels() + ", seed " + task.seed,
                    e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }

    /** What was expected of these figures, and what came out. */
    public List<ReportLine> report() {
        final List<ReportLine> all = new ArrayList<>();
        for (Outcome outcome : outcomes) {
            final ReportLines report = new ReportLines(outcome.figure.name(), outcome.figure.tier());
            outcome.figure.judge(outcome.results, plan.scale(), report);
            all.addAll(report.all());
        }
        return all;
    }

    /** Writes tables, plots, report and parameters into a directory. */
    public void write(Path directory) throws IOException {
        Files.createDirectories(directory);
        for (Outcome outcome : outcomes) {
            final String file = fileOf(outcome.figure);
            Files.writeString(directory.resolve(file + ".csv"), outcome.table.text());
            Files.writeString(directory.resolve(file + ".svg"), outcome.svg(plan));
        }
        Files.writeString(directory.resolve("report.md"), Report.text(plan, report()));
        Files.writeString(directory.resolve("parameters.properties"), plan.parameters());
    }

    private static String fileOf(Figure figure) {
        return switch (figure.name()) {
            case "t2" -> "table2";
            case "h" -> "hints";
            case "2", "8", "9" -> "fig0" + figure.name();
            default -> "fig" + figure.name();
        };
    }
}
