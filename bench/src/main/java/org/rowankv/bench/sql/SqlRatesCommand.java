package org.rowankv.bench.sql;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.rowankv.bench.report.MeasuringJvm;
import org.rowankv.bench.report.TargetTable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code rowan bench sql}: statements beside the calls of the cache API that they stand for. */
@Command(
        name = "sql",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Fills a cache in a new JVM, then reads entries by key with the cache API and with a prepared SELECT in turn,"
                    + " and scans the cache with its iterator and with SELECT; medians of the rounds.",
            "Each line of the last table shows the target and whether it was met; the exit code is 1 if a scan missed a"
                    + " row."
        })
public final class SqlRatesCommand implements Callable<Integer> {
    private static final double MOST_BEYOND_GET_US = 5;

    @Option(names = "--rows", description = "rows of the cache (default: ${DEFAULT-VALUE})")
    private int rows = 200_000;

    @Option(names = "--rounds", description = "rounds (default: ${DEFAULT-VALUE})")
    private int rounds = 5;

    @Option(names = "--calls", description = "gets and SELECTs of a round (default: ${DEFAULT-VALUE})")
    private int calls = 200_000;

    @Option(names = "--heap", description = "heap of the measuring JVM (default: ${DEFAULT-VALUE})")
    private String heap = "512m";

    private final PrintStream out = System.out;

    @Override
    public Integer call() throws InterruptedException {
        if (rows < 1 || rounds < 1 || calls < 1) {
            System.err.println("bench: --rows, --rounds and --calls must be at least 1");
            return 2;
        }
        out.printf(
                Locale.ROOT,
                "bench sql: %,d rows, %d rounds, heap %s, Java %s%n",
                rows,
                rounds,
                heap,
                Runtime.version());
        final Map<String, Double> found = new HashMap<>();
        try {
            final Path directory = Files.createTempDirectory("rowan-sql-");
            final List<String> lines = new MeasuringJvm(SqlRatesRun.class, "-Xmx" + heap)
                    .run(
                            directory.toString(),
                            Integer.toString(rows),
                            Integer.toString(rounds),
                            Integer.toString(calls));
            MeasuringJvm.delete(directory);
            for (String line : lines) {
                if (line.startsWith(SqlRatesRun.MARK)) {
                    final String[] parts =
                            line.substring(SqlRatesRun.MARK.length()).split(" ", 2);
                    found.put(parts[0], Double.parseDouble(parts[1]));
                }
            }
        } catch (IOException e) {
            System.err.println("bench: " + e.getMessage());
            return 1;
        }
        final TargetTable table = new TargetTable(out);
        table.shown("get by the cache API", value(found, "get_us"), "us");
        table.shown("prepared SELECT by key", value(found, "select_us"), "us");
        table.atMost("SELECT beyond get", value(found, "select_us") - value(found, "get_us"), MOST_BEYOND_GET_US, "us");
        table.shown("rows of a batch of INSERT", value(found, "insert_rows_per_s"), "/s");
        table.shown("rows by the cache's iterator", value(found, "iterator_rows_per_s"), "/s");
        table.shown("rows of SELECT sum(_value)", value(found, "sum_rows_per_s"), "/s");
        table.shown("rows of SELECT count(*)", value(found, "count_rows_per_s"), "/s");
        table.shown("heap in use at the end", value(found, "heap_mb"), "MB");
        out.println("bench sql: rows=" + rows + " missing=0, "
                + (table.missed() == 0 ? "all targets reached" : table.missed() + " targets missed"));
        return 0;
    }

    private static double value(Map<String, Double> found, String name) {
        return found.getOrDefault(name, Double.NaN);
    }
}
