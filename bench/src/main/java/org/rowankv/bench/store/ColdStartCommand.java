package org.rowankv.bench.store;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.rowankv.bench.report.MeasuringJvm;
import org.rowankv.bench.report.TargetTable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code rowan bench coldstart}: time to reopen a store, from its log and from a checkpoint. */
@Command(
        name = "coldstart",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Fills a store with a dir with objects of the size of ZippyDB's, closes it, and opens it repeatedly, each"
                    + " time in a new JVM: alternately from a checkpoint and by reading the whole log. Shows the median"
                    + " of the runs. The files are in the page cache: the measurement covers the reading, not the disk.",
            "With --cluster it is the server of a cluster that is started, after it ended as a killed process does.",
            "Each line of the last table shows the target and whether it was met; the exit code is 1 if an object was"
                    + " missing, or came from the log where it should come from a checkpoint."
        })
public final class ColdStartCommand implements Callable<Integer> {
    private static final double SCANNED_PER_SECOND = 1.0;
    private static final double TIMES_FASTER = 5;
    private static final double DRAM_PER_OBJECT = 16;
    /** Of the objects: the others lie in segments that were open when the checkpoint was taken. */
    private static final double FROM_CHECKPOINT = 0.5;

    @Option(names = "--objects", description = "objects in the store (default: 5000000; with --cluster 1000000)")
    private int objects;

    @Option(names = "--cluster", description = "a cluster's server, killed instead of closed")
    private boolean cluster;

    @Option(names = "--runs", description = "runs of each kind (default: ${DEFAULT-VALUE})")
    private int runs = 3;

    @Option(names = "--dir", description = "the store's directory, which must not exist (default: a temporary one)")
    private @Nullable Path directory;

    private final PrintStream out = System.out;

    private record Opened(double seconds, long objects, long loaded, double indexBytes, int threads) {
        double perSecondAndCore() {
            return objects / seconds / threads / 1e6;
        }
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (objects == 0) {
            objects = cluster ? 1_000_000 : 5_000_000;
        }
        if (objects < 1 || runs < 1) {
            System.err.println("bench: --objects and --runs must be at least 1");
            return 2;
        }
        if (directory != null && Files.exists(directory)) {
            System.err.println(
                    "bench: " + directory + " exists and is left unchanged: give a directory that does not exist");
            return 2;
        }
        final Path place = directory == null ? Files.createTempDirectory("rowan-coldstart-") : directory;
        final Path store = place.resolve("store").toAbsolutePath();
        try {
            return measure(store);
        } finally {
            MeasuringJvm.delete(place);
        }
    }

    private int measure(Path store) throws IOException, InterruptedException {
        out.printf(
                Locale.ROOT,
                "bench coldstart: %,d objects of %.1f bytes on average, one server, %d processors, Java %s%n",
                objects,
                ZippyObjects.AVERAGE_BYTES,
                Runtime.getRuntime().availableProcessors(),
                Runtime.version());
        final Path checkpoints = (cluster ? store.resolve(ServerStartRun.SERVER) : store).resolve("checkpoint-0");
        final Path aside = store.resolveSibling("aside");
        System.err.println("coldstart: filling");
        child(ColdStartRun.FILL, store);
        final List<Opened> fromCheckpoint = new ArrayList<>();
        final List<Opened> scanned = new ArrayList<>();
        boolean missing = false;
        for (int run = 1; run <= runs; run++) {
            System.err.println("coldstart: run " + run + " of " + runs + ", from a checkpoint");
            fromCheckpoint.add(child(ColdStartRun.OPEN, store));
            Files.move(checkpoints, aside);
            System.err.println("coldstart: run " + run + " of " + runs + ", from the log");
            scanned.add(child(ColdStartRun.OPEN, store));
            if (cluster) {
                Files.move(aside, checkpoints); // it takes none before it ends
            } else {
                MeasuringJvm.delete(aside); // its close has written new ones
            }
            final Opened last = fromCheckpoint.get(run - 1);
            missing |= last.objects() != objects || last.loaded() < FROM_CHECKPOINT * objects;
            missing |= scanned.get(run - 1).objects() != objects
                    || scanned.get(run - 1).loaded() != 0;
            out.printf(
                    Locale.ROOT,
                    "  run %d: from the log %7.3f s, from a checkpoint %7.3f s%n",
                    run,
                    scanned.get(run - 1).seconds(),
                    last.seconds());
            out.flush();
        }
        check(median(scanned), median(fromCheckpoint));
        if (missing) {
            out.println("bench coldstart: objects are missing, or came from the wrong source: " + scanned + " "
                    + fromCheckpoint);
        }
        return missing ? 1 : 0;
    }

    private void check(Opened scan, Opened checkpoint) {
        final TargetTable table = new TargetTable(out);
        out.println();
        table.shown("open again from the log", scan.seconds(), "s");
        table.shown("open again from a checkpoint", checkpoint.seconds(), "s");
        table.shown("objects from the checkpoint", 100.0 * checkpoint.loaded() / objects, "%");
        table.shown("threads that read", scan.threads(), "");
        table.atLeast("objects from the log per second and core", scan.perSecondAndCore(), SCANNED_PER_SECOND, "M/s");
        table.atLeast("a checkpoint against the log", scan.seconds() / checkpoint.seconds(), TIMES_FASTER, "x");
        table.atMost("DRAM of the index per object", checkpoint.indexBytes(), DRAM_PER_OBJECT, "B");
        out.println("bench coldstart: objects=" + objects + ", "
                + (table.missed() == 0 ? "all targets reached" : table.missed() + " targets missed"));
    }

    private static Opened median(List<Opened> all) {
        return all.stream()
                .sorted(Comparator.comparingDouble(Opened::seconds))
                .toList()
                .get(all.size() / 2);
    }

    private Opened child(String what, Path store) throws IOException, InterruptedException {
        Opened opened = new Opened(0, 0, 0, 0, 1);
        final Class<?> program = cluster ? ServerStartRun.class : ColdStartRun.class;
        for (String line : new MeasuringJvm(program, "-Xmx2g").run(what, store.toString(), Integer.toString(objects))) {
            if (line.startsWith(ColdStartRun.OPENED)) {
                final String[] words =
                        line.substring(ColdStartRun.OPENED.length()).split(" ");
                opened = new Opened(
                        Long.parseLong(words[0]) / 1e9,
                        Long.parseLong(words[1]),
                        Long.parseLong(words[2]),
                        Double.parseDouble(words[3]),
                        Integer.parseInt(words[4]));
            }
        }
        return opened;
    }
}
