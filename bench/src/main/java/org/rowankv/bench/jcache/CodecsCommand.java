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
import org.rowankv.bench.micro.Measurement;
import org.rowankv.bench.micro.MicroSettings;
import org.rowankv.bench.report.TargetTable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code rowan bench codecs}: what decoding adds to a get, and what keeping decoded values saves. */
@Command(
        name = "codecs",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Measures whole gets through javax.cache of a text, and of a record of four fields: in Java serialization, by the"
                    + " names of its fields, and kept decoded (near=validated). One server, String keys, Zipf 0.99 unless said,"
                    + " one thread, one JVM per cell, one cell at a time; the result is the median of the rounds.",
            "Each line of the last table shows the target and whether it was met; the exit code is 0 either way."
        })
public final class CodecsCommand implements Callable<Integer> {
    private static final List<String> CELLS = List.of("text", "java", "record", "near", "recordUniform", "nearUniform");
    private static final double OF_JAVA = 0.2;
    private static final double OF_JAVAS_BYTES = 0.5;
    private static final double NEAR_NS = 250;

    @Option(names = "--quick", description = "one round of short iterations: under a minute, for orientation only")
    private boolean quick;

    @Option(names = "--keys", description = "objects in the cache (default: ${DEFAULT-VALUE})")
    private int keys = 100_000;

    @Option(names = "--rounds", description = "measurements per cell (default: ${DEFAULT-VALUE})")
    private int rounds = 3;

    @Option(names = "--jvm", description = "home of the JDK to measure on (default: the one that runs this command)")
    private @Nullable Path jvm;

    private final PrintStream out = System.out;
    private final Map<String, List<Measurement>> cells = new LinkedHashMap<>();

    @Override
    public Integer call() throws RunnerException {
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
        out.println("bench codecs: " + keys + " keys, " + Runtime.getRuntime().availableProcessors() + " processors, "
                + java);
        for (int round = 0; round < (quick ? 1 : rounds); round++) {
            for (String cell : CELLS) {
                final Measurement measured = ForkedCell.measure(settings, CodecBenchmark.class, cell, 1, options -> {});
                cells.computeIfAbsent(cell, name -> new ArrayList<>()).add(measured);
                out.printf(
                        Locale.ROOT,
                        "  %-14s %8.1f ns/op   cpu: caller %7.1f  all %7.1f ns/op %8.2f B/op%n",
                        cell,
                        measured.ns(),
                        measured.callerNs(),
                        measured.cpuNs(),
                        measured.allocatedBytes());
                out.flush();
            }
        }
        check();
        return 0;
    }

    private Measurement median(String cell) {
        return Measurement.median(cells.getOrDefault(cell, List.of()));
    }

    private void check() {
        final TargetTable table = new TargetTable(out);
        final Measurement text = median("text");
        final Measurement java = median("java");
        final Measurement record = median("record");
        final Measurement near = median("near");
        out.println();
        table.atMost(
                "get of a record by names, in gets with Java serialization",
                record.ns() / java.ns(),
                record.callerNs() / java.callerNs(),
                OF_JAVA);
        table.shown("the same, in gets of a text", record.ns() / text.ns(), "x");
        table.atMost("get of a kept record", near.ns(), NEAR_NS, "ns");
        table.shown("the same by the callers' CPU time", near.callerNs(), "ns");
        table.shown("the same, in gets by names", near.ns() / record.ns(), "x");
        table.shown(
                "the same, in gets by names, uniform keys",
                median("nearUniform").ns() / median("recordUniform").ns(),
                "x");
        table.atMost("get of a kept record allocates", near.allocatedBytes(), 1, "B/op");
        final Object book = CodecBenchmark.book(1);
        final Object row = CodecBenchmark.row();
        final double bytes = CodecBenchmark.storedBytes("record", book);
        table.shown("bytes of the record by names", bytes, "B");
        // Both have the class's name, the fields' names and the text: half is not to be had.
        table.shown("the same, in those of Java serialization", bytes / CodecBenchmark.storedBytes("java", book), "x");
        table.atMost(
                "the same, of a record with a decimal and a date",
                (double) CodecBenchmark.storedBytes("record", row) / CodecBenchmark.storedBytes("java", row),
                OF_JAVAS_BYTES,
                "x");
        out.println(
                "bench codecs: " + (table.missed() == 0 ? "all targets reached" : table.missed() + " targets missed")
                        + (quick ? " (a quick run: for orientation only)" : ""));
    }
}
