package org.rowankv.samples.demo;

import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.function.ToLongFunction;
import org.rowankv.samples.run.ChildJvm;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code rowan demo start}: the cost of the default cache manager at the start of an application. */
@Command(
        name = "start",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Starts a process that opens the default cache manager, creates a cache and puts one object; shows how long"
                    + " that took from the first line of its main, and the memory that the process then holds.",
            "The last line is \"start: manager_ms=N put_ms=N resident_mib=N direct_mib=N\", medians of all runs."
        })
final class StartDemo implements Callable<Integer> {
    @Option(names = "--runs", description = "number of processes (default: ${DEFAULT-VALUE})", defaultValue = "5")
    private int runs;

    @Spec
    private CommandSpec spec;

    private final PrintStream out = System.out;

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (runs < 1) {
            throw new ParameterException(spec.commandLine(), "--runs must be at least 1, not " + runs);
        }
        final List<StartFigures> all = new ArrayList<>();
        out.println("  manager ms   first put ms   resident MiB   direct MiB");
        for (int run = 0; run < runs; run++) {
            final StartFigures figures = start();
            all.add(figures);
            out.printf(
                    Locale.ROOT,
                    "  %10.0f   %12.0f   %12.1f   %10.1f%n",
                    figures.managerNs() / 1e6,
                    figures.putNs() / 1e6,
                    figures.residentKib() / 1024.0,
                    figures.directBytes() / 1048576.0);
        }
        out.println("start: manager_ms=" + median(all, StartFigures::managerNs) / 1_000_000 + " put_ms="
                + median(all, StartFigures::putNs) / 1_000_000 + " resident_mib="
                + (median(all, StartFigures::residentKib) >> 10) + " direct_mib="
                + (median(all, StartFigures::directBytes) >> 20));
        return 0;
    }

    private static StartFigures start() throws IOException, InterruptedException {
        try (ChildJvm started = new ChildJvm(StartedApplication.class, List.of())) {
            final String words = started.await(StartFigures.PREFIX);
            final int exitCode = started.awaitEnd();
            if (words == null || exitCode != 0) {
                throw new IllegalStateException("the started process ended with exit code " + exitCode);
            }
            return StartFigures.ofWords(words);
        }
    }

    private static long median(List<StartFigures> all, ToLongFunction<StartFigures> figure) {
        return all.stream().mapToLong(figure).sorted().toArray()[all.size() / 2];
    }
}
