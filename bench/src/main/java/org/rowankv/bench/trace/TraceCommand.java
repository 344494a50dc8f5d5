package org.rowankv.bench.trace;

import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.rowankv.bench.paper.cluster.Strategy;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code rowan bench trace}: the product's own writes, replayed through the model of persistent memory. */
@Command(
        name = "trace",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Runs six embedded servers with three replicas, and traces what they write to their areas: half reads and half"
                    + " updates of objects with the sizes of ZippyDB, while they clean. Replays the trace through a model of"
                    + " persistent memory as if each server had 24 workers, with landed entries where Rowan and other"
                    + " strategies place them.",
            "The memory is a model, the writes are real. Exits with 1 if a bar is missed."
        })
public final class TraceCommand implements Callable<Integer> {
    @Option(names = "--objects", description = "objects (default: ${DEFAULT-VALUE})")
    private int objects = 200_000;

    @Option(names = "--operations", description = "reads and updates (default: ${DEFAULT-VALUE})")
    private int operations = 1_000_000;

    @Option(names = "--seed", description = "of the replays (default: ${DEFAULT-VALUE})")
    private long seed = 1;

    @Option(names = "--csv", description = "file for the table")
    private @Nullable Path csv;

    private final PrintStream out;

    public TraceCommand() {
        this(System.out);
    }

    TraceCommand(PrintStream out) {
        this.out = out;
    }

    @Override
    public Integer call() throws Exception {
        System.err.println("bench: tracing " + operations + " operations on " + objects + " objects");
        final TracedRun run = TracedRun.run(objects, operations, false);
        final TraceBars bars = judge(run);
        out.println("trace: writes=" + run.trace().size() + " bars=" + bars.count() + " missed=" + bars.missed());
        return bars.missed() == 0 ? 0 : 1;
    }

    /** Replays and judges a run. */
    TraceBars judge(TracedRun run) throws Exception {
        final TraceBars bars = new TraceBars(out);
        final List<String> rows = new ArrayList<>();
        rows.add(
                "tier,seed,strategy,layout,dlwa,entries,worker_bytes,backup_bytes,clean_bytes,migration_bytes,table_bytes");
        for (final boolean paperLayout : new boolean[] {false, true}) {
            final List<TraceReplay.Outcome> outcomes = new ArrayList<>(); // by strategy
            for (final Strategy strategy : Strategy.values()) {
                final TraceReplay.Outcome outcome =
                        TraceReplay.run(run.trace(), TracedRun.SERVERS, strategy, paperLayout, seed);
                outcomes.add(outcome);
                rows.add(row(run.trace(), outcome, paperLayout));
                System.err.println("bench: " + rows.get(rows.size() - 1));
            }
            if (!paperLayout) {
                bars.judge(run);
                outcomes.forEach(bars::judge);
                bars.judge(
                        outcomes.get(Strategy.ROWAN.ordinal()).writeAmplification(),
                        outcomes.get(Strategy.RWRITE.ordinal()).writeAmplification());
            }
        }
        rows.forEach(out::println);
        if (csv != null) {
            final Path unused = Files.write(csv, rows);
        }
        return bars;
    }

    /** The bytes are those of our layout. */
    private String row(WriteTrace trace, TraceReplay.Outcome outcome, boolean paperLayout) {
        long entries = 0;
        final StringBuilder bytes = new StringBuilder();
        for (final WriteOwner owner : WriteOwner.values()) {
            entries += trace.entries(owner);
            bytes.append(',').append(trace.bytes(owner));
        }
        return String.format(
                Locale.ROOT,
                "T,%d,%s,%s,%.3f,%d%s",
                seed,
                outcome.strategy().label(),
                paperLayout ? "paper" : "ours",
                outcome.writeAmplification(),
                entries,
                bytes);
    }
}
