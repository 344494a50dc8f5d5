package org.rowankv.bench.paper;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.rowankv.bench.paper.cluster.EntrySizes;
import org.rowankv.bench.paper.figure.Evaluation;
import org.rowankv.bench.paper.figure.EvaluationPlan;
import org.rowankv.bench.paper.figure.ReportLine;
import org.rowankv.bench.paper.figure.Scale;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code rowan bench paper}: figures and tables of the paper, from a model, and from what the product writes. */
@Command(
        name = "paper",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Simulates the paper's cluster: network cards, persistent memory, and six ways of replication. The product does not"
                    + " run, but for figure 10t, which replays its writes through the model of memory. Constants are calibrated"
                    + " to a few numbers of the paper.",
            "Writes for each figure a table (CSV) and a plot (SVG), a report and the constants. The exit code is 1 if a bar is"
                    + " missed. The same seed and commit give the same bytes."
        })
public final class PaperCommand implements Callable<Integer> {
    private static final int THREADS = 2;

    /** Layouts of entries. */
    enum Layout {
        PAPER(EntrySizes.PAPERS_METADATA),
        OURS(EntrySizes.OUR_METADATA);

        private final int metadata;

        Layout(int metadata) {
            this.metadata = metadata;
        }

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    @Spec
    private CommandSpec spec;

    @Option(
            names = "--figure",
            split = ",",
            paramLabel = "NAME",
            description =
                    "2, 8, 9, 10, 10t (trace), 11, 13, t2 (Table 2), h (hints), separated by commas (default: all)")
    private List<String> figures = List.of();

    @Option(names = "--seed", description = "first seed (default: ${DEFAULT-VALUE})")
    private long seed = 1;

    @Option(names = "--seeds", description = "runs of each point; bars look at the median (default: 3, quick 1)")
    private int seeds;

    @Option(names = "--out", description = "directory for what it writes (default: ${DEFAULT-VALUE})")
    private Path out = Path.of("target/paper");

    @Option(names = "--quick", description = "fewer points and shorter runs, less than a minute; the same bars")
    private boolean quick;

    @Option(
            names = "--layout",
            description = "entries with the metadata of: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE})")
    private Layout layout = Layout.PAPER;

    @Option(
            names = "--spread",
            paramLabel = "PERCENT",
            description =
                    "of the deviations of objects' sizes, which the paper does not give (default: ${DEFAULT-VALUE})")
    private int spread = 100;

    @Option(names = "--threads", description = "threads that simulate (default: ${DEFAULT-VALUE})")
    private int threads = THREADS;

    @Option(
            names = "--commit",
            defaultValue = "${sys:rowan.commit:-unknown}",
            description = "commit of the sources, for what is written (default: ${DEFAULT-VALUE})")
    private String commit = "";

    @Override
    public Integer call() throws IOException {
        final long beginNs = System.nanoTime();
        final PrintWriter err = spec.commandLine().getErr();
        final Evaluation evaluation = Evaluation.run(
                plan(),
                threads,
                line -> err.printf(Locale.ROOT, "paper: %4.0f s  %s%n", (System.nanoTime() - beginNs) / 1e9, line));
        evaluation.write(out);
        final List<ReportLine> report = evaluation.report();
        final PrintWriter print = spec.commandLine().getOut();
        for (ReportLine each : report) {
            print.printf(
                    "%s %-3s %-6s %-55s %-28s %s%n",
                    each.tier(),
                    each.figure(),
                    each.isMissed() ? "MISSED" : each.kind(),
                    each.name(),
                    each.paper(),
                    each.found());
        }
        final long missed = report.stream().filter(ReportLine::isMissed).count();
        print.println("Nothing here is measured; commit " + commit + "; written to " + out);
        print.println("paper: figures=" + plan().figures().size() + " bars=" + count(report, ReportLine.Kind.BAR)
                + " missed=" + missed + " known=" + count(report, ReportLine.Kind.KNOWN));
        print.flush();
        return missed == 0 ? CommandLine.ExitCode.OK : 1;
    }

    private EvaluationPlan plan() {
        if (threads < 1 || spread < 0) {
            throw new ParameterException(spec.commandLine(), "--threads must be at least 1, --spread not below 0");
        }
        final int count = seeds != 0 ? seeds : quick ? 1 : 3;
        final Scale scale = quick ? Scale.quick(layout.metadata, spread) : Scale.full(layout.metadata, spread);
        try {
            return new EvaluationPlan(
                    figures.isEmpty() ? Evaluation.names() : figures, seed, count, commit, layout.toString(), scale);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), e.getMessage(), e);
        }
    }

    private static long count(List<ReportLine> report, ReportLine.Kind kind) {
        return report.stream().filter(each -> each.kind() == kind).count();
    }
}
