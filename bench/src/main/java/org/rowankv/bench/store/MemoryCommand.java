package org.rowankv.bench.store;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.rowankv.bench.report.MeasuringJvm;
import org.rowankv.bench.report.TargetTable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code rowan bench memory}: DRAM per object, excluding the log. */
@Command(
        name = "memory",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Fills a store with a dir with objects of the size of ZippyDB's in a new JVM, overwrites a fifth of"
                    + " them while checkpoints are taken, and counts what is live in that JVM and was not before the store"
                    + " was opened: everything on the heap, including index, liveness, sessions and the bookkeeping of"
                    + " checkpoints, and direct buffers. The log is in a mapping, which is not counted.",
            "Each line of the last table shows the target and whether it was met; the exit code is 1 if an object was"
                    + " missing."
        })
public final class MemoryCommand implements Callable<Integer> {
    private static final double DRAM_PER_OBJECT = 16;

    @Option(names = "--objects", description = "objects in the store (default: ${DEFAULT-VALUE})")
    private int objects = 10_000_000;

    @Option(names = "--dir", description = "the store's directory, which must not exist (default: a temporary one)")
    private @Nullable Path directory;

    private final PrintStream out = System.out;

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (objects < 1) {
            System.err.println("bench: --objects must be at least 1");
            return 2;
        }
        if (directory != null && Files.exists(directory)) {
            System.err.println("bench: " + directory + " exists; the directory of a measurement is deleted afterwards");
            return 2;
        }
        final Path place = directory == null ? Files.createTempDirectory("rowan-memory-") : directory.toAbsolutePath();
        out.printf(
                Locale.ROOT,
                "bench memory: %,d objects of %.1f bytes on average, one server, Java %s%n",
                objects,
                ZippyObjects.AVERAGE_BYTES,
                Runtime.version());
        final List<String> lines;
        try {
            lines = new MeasuringJvm(MemoryRun.class, "-Xmx3g").run(place.toString(), Integer.toString(objects));
        } finally {
            MeasuringJvm.delete(place);
        }
        return check(lines);
    }

    private int check(List<String> lines) {
        final TargetTable table = new TargetTable(out);
        final List<String[]> grown = new ArrayList<>();
        String[] measured = {};
        for (String line : lines) {
            if (line.startsWith(MemoryRun.MEASURED)) {
                measured = line.substring(MemoryRun.MEASURED.length()).split(" ");
            } else if (line.startsWith(MemoryRun.GREW)) {
                grown.add(line.substring(MemoryRun.GREW.length()).split(" "));
            }
        }
        if (measured.length == 0) {
            throw new IllegalStateException("the measuring process has printed no result");
        }
        final long indexed = Long.parseLong(measured[0]);
        out.println();
        table.atMost(
                "DRAM per object: all that was added to the heap", each(measured[1], indexed), DRAM_PER_OBJECT, "B");
        table.shown("    of that, arrays of numbers", each(measured[2], indexed), "B");
        table.shown("    of that, the indexes by their own count", each(measured[4], indexed), "B");
        table.shown("direct buffers beside the heap, per object", each(measured[3], indexed), "B");
        for (String[] line : grown) {
            table.shown("    more of " + line[1] + ", per object", each(line[0], indexed), "B");
        }
        table.shown("segments cleaned meanwhile", Double.parseDouble(measured[5]), "");
        table.shown("checkpoints taken meanwhile", Double.parseDouble(measured[6]), "");
        out.println("bench memory: objects=" + indexed + ", "
                + (table.missed() == 0 ? "all targets reached" : table.missed() + " targets missed"));
        if (indexed != objects) {
            out.println("bench memory: the index holds " + indexed + " objects, not " + objects);
            return 1;
        }
        return 0;
    }

    private static double each(String bytes, long objects) {
        return (double) Long.parseLong(bytes) / objects;
    }
}
