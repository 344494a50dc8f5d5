package org.rowankv.check.soak;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.rowankv.check.area.ToolDirectory;
import org.rowankv.runtime.CounterStarts;
import org.rowankv.runtime.SecureSeed;
import org.rowankv.runtime.SystemClock;
import org.rowankv.tools.StoreCommand;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code rowan soak}: one store under combined load for minutes, every reply compared with a model. */
@Command(
        name = "soak",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Fills a store in a directory and continues: overwrites, deletes, lifetimes, a cache with a limit, and so cleaning,"
                    + " expiry and eviction together, until the capacity was written many times. Readers compare every"
                    + " value with a model; at the end every key is read, before and after the store was"
                    + " closed and opened, and the replicas are compared.",
            "Heap (after a collection) and files are measured after each quarter: at the end they may exceed the first"
                    + " measurement by at most a tenth, and the heap by another 8 MiB.",
            "The last line is \"soak: violations=0\"; any other, or a run that has not done enough, exits non-zero."
        })
public final class SoakCommand implements Callable<Integer> {
    @Option(names = "--minutes", description = "length in minutes (default: ${DEFAULT-VALUE})", defaultValue = "5")
    private int minutes;

    @Option(names = "--seconds", description = "length in seconds, instead of minutes")
    private @Nullable Integer seconds;

    @Option(
            names = "--utilisation",
            description = "percent of the space for live entries in use (default: ${DEFAULT-VALUE})",
            defaultValue = "85")
    private int utilisation;

    @Option(
            names = "--servers",
            description = "servers in this JVM, each with a replica of everything (default: ${DEFAULT-VALUE})",
            defaultValue = "1")
    private int servers;

    @Option(
            names = "--capacity",
            description = "MiB of each server's area (default: ${DEFAULT-VALUE})",
            defaultValue = "64")
    private int capacityMib;

    @Option(names = "--writers", description = "writer threads (default: ${DEFAULT-VALUE})", defaultValue = "2")
    private int writers;

    @Option(names = "--readers", description = "reader threads (default: ${DEFAULT-VALUE})", defaultValue = "2")
    private int readers;

    @Option(names = "--caches", description = "caches with a limit (default: ${DEFAULT-VALUE})", defaultValue = "1")
    private int caches;

    @Option(
            names = "--counters",
            description = "start of counters: ${COMPLETION-CANDIDATES}; near-end: a little below their critical"
                    + " values (default: ${DEFAULT-VALUE})",
            defaultValue = "usual",
            converter = StartsConverter.class,
            completionCandidates = StartsConverter.Names.class)
    private CounterStarts counters = CounterStarts.USUAL;

    @Option(
            names = "--times",
            description =
                    "how often the capacity must be written for a meaningful run (default:" + " ${DEFAULT-VALUE})",
            defaultValue = "20")
    private int times;

    @Option(names = "--seed", description = "seed of the operations; thread scheduling is not reproduced")
    private @Nullable Long seed;

    @Option(names = "--dir", description = "an empty directory for the store, which is kept (default: a temporary one)")
    private @Nullable Path directory;

    /** Allowed values of {@code --counters}. */
    private static final class StartsConverter implements CommandLine.ITypeConverter<CounterStarts> {
        private static final long STEPS_LEFT = 300;
        private static final String USUAL = "usual";
        private static final String NEAR_END = "near-end";

        /** The values listed in the help. */
        private static final class Names extends ArrayList<String> {
            private static final long serialVersionUID = 1L;

            Names() {
                super(List.of(USUAL, NEAR_END));
            }
        }

        @Override
        public CounterStarts convert(String name) {
            return switch (name) {
                case USUAL -> CounterStarts.USUAL;
                case NEAR_END -> CounterStarts.nearEnds(STEPS_LEFT);
                default -> throw new CommandLine.TypeConversionException("usual or near-end, not '" + name + "'");
            };
        }
    }

    public static void main(String[] args) {
        System.exit(StoreCommand.line(new SoakCommand()).execute(args));
    }

    @Override
    public Integer call() throws IOException {
        final long chosen = seed == null ? SecureSeed.next() >>> 16 : seed;
        final Path place = directory == null
                ? Files.createTempDirectory("rowan-soak-")
                : ToolDirectory.newOrEmpty(directory).toAbsolutePath();
        final SoakSettings settings;
        try {
            settings = new SoakSettings(
                    seconds == null ? Math.multiplyExact(60, minutes) : seconds,
                    utilisation,
                    servers,
                    (long) capacityMib << 20,
                    writers,
                    readers,
                    caches,
                    counters,
                    times,
                    chosen,
                    place);
        } catch (IllegalArgumentException | ArithmeticException e) {
            throw new CommandLine.ParameterException(new CommandLine(this), String.valueOf(e.getMessage()), e);
        }
        System.out.println("soak: seed " + chosen + ", store in " + place);
        final SoakReport report =
                new SoakRun(settings, SystemClock.INSTANCE, System.out, UnaryOperator.identity()).run();
        table(report);
        report.firstViolations().forEach(violation -> System.out.println("soak: " + violation));
        report.shortcomings().forEach(shortcoming -> System.out.println("soak: " + shortcoming));
        if (report.isWell() && directory == null) {
            ToolDirectory.delete(place);
        } else if (!report.isWell()) {
            System.out.println("soak: seed " + chosen + " found this; the store is kept in " + place);
        }
        System.out.println("soak: violations=" + report.violations());
        return report.isWell() ? 0 : 1;
    }

    private void table(SoakReport report) {
        report.counts().forEach((what, count) -> System.out.printf(Locale.ROOT, "  %-40s %,18d%n", what, count));
        System.out.printf(Locale.ROOT, "  %-40s %18.1f%n", "times the capacity was written", report.multiple());
        System.out.printf(
                Locale.ROOT,
                "  %-40s %,18.0f%n",
                "operations/s in the first minute",
                report.pace().first());
        System.out.printf(
                Locale.ROOT,
                "  %-40s %,18.0f%n",
                "operations/s in the last minute",
                report.pace().last());
        System.out.printf(
                Locale.ROOT,
                "  %8s %8s %8s %10s %12s %12s %10s %8s %9s%n",
                "seconds",
                "written",
                "full",
                "cleaned",
                "relocated",
                "tombstones",
                "amplified",
                "heap",
                "files");
        for (SoakSample quarter : report.quarters()) {
            System.out.printf(
                    Locale.ROOT,
                    "  %8.0f %6.1f x %6.1f %% %10d %8d MiB %12d %8.2f x %4.0f MiB %5d MiB%n",
                    quarter.seconds(),
                    (double) quarter.writtenBytes() / ((long) capacityMib << 20),
                    quarter.utilisation(),
                    quarter.segmentsCleaned(),
                    quarter.relocatedBytes() >> 20,
                    quarter.tombstonesDropped(),
                    quarter.writeAmplification(servers),
                    quarter.heapBytes() / 1048576.0,
                    quarter.fileBytes() >> 20);
        }
    }
}
