package org.rowankv.bench.jcache;

import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.runner.RunnerException;
import org.rowankv.bench.micro.ForkedCell;
import org.rowankv.bench.micro.LineTransfer;
import org.rowankv.bench.micro.Measurement;
import org.rowankv.bench.micro.MicroSettings;
import org.rowankv.bench.report.TargetTable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code rowan bench jcache}: get, put and invoke through javax.cache, compared with the native client. */
@Command(
        name = "jcache",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Measures get, put and invoke through javax.cache, and the same operations of the native client on the same"
                    + " store: one server, String keys, values of 70 bytes by value, uniform keys, one JVM per cell, one"
                    + " cell at a time; each round runs all cells in turn, and the result is the median of the rounds.",
            "Each line of the last table shows the target and whether it was met; the exit code is 0 either way."
        })
public final class JCacheCommand implements Callable<Integer> {
    private static final double FACTOR = 1.3;
    private static final double MOST_MORE_NS = 80;
    private static final int VALUE_OBJECT_BYTES = 88; // a byte[70] and its header

    @Option(names = "--quick", description = "one round of short iterations: about a minute, for orientation only")
    private boolean quick;

    @Option(names = "--keys", description = "objects in the cache (default: ${DEFAULT-VALUE})")
    private int keys = 100_000;

    @Option(names = "--rounds", description = "measurements per cell (default: ${DEFAULT-VALUE})")
    private int rounds = 3;

    @Option(names = "--jvm", description = "home of the JDK to measure on (default: the one that runs this command)")
    private @Nullable Path jvm;

    private final PrintStream out = System.out;
    private final Map<String, List<Measurement>> cells = new LinkedHashMap<>();
    private double slowestLineNs;

    @Override
    public Integer call() throws RunnerException, InterruptedException {
        final Path home = jvm == null ? Path.of(System.getProperty("java.home")) : jvm;
        final Path java = home.resolve("bin").resolve("java");
        if (!Files.isExecutable(java) || rounds < 1 || keys < 1) {
            System.err.println(
                    rounds < 1 || keys < 1
                            ? "bench: --rounds and --keys must be at least 1"
                            : "bench: there is no JDK in " + home + ": " + java + " cannot be run");
            return 2;
        }
        final MicroSettings settings = MicroSettings.round(java, keys, quick);
        out.println("bench jcache: " + keys + " keys, values of " + JCacheBenchmark.VALUE_LENGTH + " bytes, "
                + Runtime.getRuntime().availableProcessors() + " processors, " + java);
        for (int round = 0; round < (quick ? 1 : rounds); round++) {
            for (int threads = 1; threads <= 2; threads++) {
                for (String operation : List.of("clientGet", "get", "clientPut", "put", "clientInvoke", "invoke")) {
                    if (threads == 1 || !"clientInvoke".equals(operation)) {
                        measure(settings, operation, threads);
                    }
                }
            }
        }
        check();
        return 0;
    }

    private void measure(MicroSettings settings, String operation, int threads)
            throws RunnerException, InterruptedException {
        final double lineNs = LineTransfer.measureNs();
        final Measurement measured =
                ForkedCell.measure(settings, JCacheBenchmark.class, operation, threads, options -> {});
        slowestLineNs = Math.max(slowestLineNs, lineNs);
        cells.computeIfAbsent(operation + threads, name -> new ArrayList<>()).add(measured);
        out.printf(
                Locale.ROOT,
                "  %-12s %d thread%s %8.1f ns/op %6.2f M/s   cpu: caller %7.1f  all %7.1f ns/op %8.2f B/op   line %3.0f ns%n",
                operation,
                threads,
                threads > 1 ? "s" : " ",
                measured.ns(),
                measured.millionsPerSecond(),
                measured.callerNs(),
                measured.cpuNs(),
                measured.allocatedBytes(),
                lineNs);
        out.flush();
    }

    private Measurement median(String operation, int threads) {
        return Measurement.median(cells.getOrDefault(operation + threads, List.of()));
    }

    private void check() {
        final TargetTable table = new TargetTable(out);
        out.println();
        for (int threads = 1; threads <= 2; threads++) {
            layer(table, "get", "clientGet", threads);
            layer(table, "put", "clientPut", threads);
        }
        final Measurement invoke = median("invoke", 1);
        table.shown(
                "invoke, in reads and writes of the client",
                invoke.ns() / median("clientInvoke", 1).ns(),
                "x");
        table.atMost("get allocates", median("get", 1).allocatedBytes(), VALUE_OBJECT_BYTES + 1, "B/op");
        table.atMost("put allocates", median("put", 1).allocatedBytes(), 1, "B/op");
        table.shown("invoke allocates", invoke.allocatedBytes(), "B/op");
        for (String operation : List.of("clientGet", "get", "clientPut", "put", "invoke")) {
            table.shown(operation + ": two threads against one", scale(operation), "x");
        }
        table.shown("a cache line from one processor to the other, at most", slowestLineNs, "ns");
        out.println(
                "bench jcache: " + (table.missed() == 0 ? "all targets reached" : table.missed() + " targets missed")
                        + (quick ? " (a quick run: for orientation only)" : ""));
    }

    private double scale(String operation) {
        return median(operation, 2).millionsPerSecond() / median(operation, 1).millionsPerSecond();
    }

    /** Time that the layer adds to the client's, beyond the proportional allowance. */
    private void layer(TargetTable table, String operation, String client, int threads) {
        final Measurement of = median(operation, threads);
        final Measurement beneath = median(client, threads);
        final String what = operation + ", " + threads + (threads > 1 ? " threads" : " thread");
        table.shown(what + ": the layer in times of the client", of.ns() / beneath.ns(), "x");
        table.atMost(what + ": ns beyond 1.3 times the client", of.ns() - FACTOR * beneath.ns(), MOST_MORE_NS, "ns");
    }
}
