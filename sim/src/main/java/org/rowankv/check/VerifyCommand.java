package org.rowankv.check;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.rowankv.check.area.ToolDirectory;
import org.rowankv.check.verify.EmbeddedStoreUnderTest;
import org.rowankv.check.verify.NoProgressException;
import org.rowankv.check.verify.VerifyReport;
import org.rowankv.check.verify.VerifyRun;
import org.rowankv.check.verify.VerifySettings;
import org.rowankv.runtime.SecureSeed;
import org.rowankv.runtime.SystemClock;
import org.rowankv.tools.StoreCommand;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code rowan verify}: checks the histories of many callers on a few keys, under broken links and lost replies. */
@Command(
        name = "verify",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Callers read, write, compare-and-set and remove a few keys while links between servers are fenced, senders"
                    + " stall during an append, and requests and replies are lost, duplicated and delayed. Every"
                    + " key's history is checked for linearizability; at the end the replicas must agree.",
            "The last line is \"verify: operations=N anomalies=0\"; any other result exits non-zero."
        })
public final class VerifyCommand implements Callable<Integer> {
    @Option(names = "--seconds", description = "length of the run (default: ${DEFAULT-VALUE})", defaultValue = "60")
    private int seconds;

    @Option(names = "--threads", description = "number of callers (default: ${DEFAULT-VALUE})", defaultValue = "8")
    private int threads;

    @Option(names = "--keys", description = "number of keys (default: ${DEFAULT-VALUE})", defaultValue = "50")
    private int keys;

    @Option(names = "--servers", description = "servers in this JVM (default: ${DEFAULT-VALUE})", defaultValue = "3")
    private int servers;

    @Option(
            names = "--replicas",
            description = "replicas of each object (default: ${DEFAULT-VALUE})",
            defaultValue = "3")
    private int replicas;

    @Option(names = "--seed", description = "seed of callers and faults; thread scheduling is not reproduced")
    private @Nullable Long seed;

    @Option(names = "--dir", description = "the store's directory, which is kept (default: a temporary one)")
    private @Nullable Path directory;

    public static void main(String[] args) {
        // Must precede loading of any class of the store: without this the JIT drops its chaos points.
        System.setProperty("rowan.chaos", "true");
        System.exit(StoreCommand.line(new VerifyCommand()).execute(args));
    }

    @Override
    public Integer call() throws IOException {
        final long chosen = seed == null ? SecureSeed.next() >>> 16 : seed;
        final Path place = directory == null
                ? Files.createTempDirectory("rowan-verify-")
                : directory.toAbsolutePath(); // the store creates it, or reports why not
        System.out.println("verify: seed " + chosen + ", store in " + place);
        final VerifySettings settings = VerifySettings.of(seconds, threads, keys, chosen);
        final VerifyReport report;
        try (EmbeddedStoreUnderTest store = new EmbeddedStoreUnderTest(servers, replicas, threads, place)) {
            report = run(store, settings, place);
        }
        table(report);
        for (String anomaly : report.anomalies()) {
            System.out.println("verify: " + anomaly);
        }
        final boolean idle = neverHappened(report);
        final boolean well = report.anomalies().isEmpty() && !idle;
        if (well && directory == null) {
            ToolDirectory.delete(place);
        } else if (!well) {
            System.out.println("verify: seed " + chosen + " found this; the store is kept in " + place);
        }
        System.out.println("verify: operations=" + report.operations() + " anomalies="
                + report.anomalies().size());
        return well ? 0 : 1;
    }

    private static VerifyReport run(EmbeddedStoreUnderTest store, VerifySettings settings, Path place)
            throws IOException {
        try {
            return new VerifyRun(store, settings, SystemClock.INSTANCE, System.out).run();
        } catch (NoProgressException e) {
            System.out.println("verify: stuck, with seed " + settings.seed() + ": " + e.getMessage());
            final Path dump = place.resolveSibling(place.getFileName() + ".hprof");
            ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class).dumpHeap(dump.toString(), true);
            System.out.println("verify: heap dump in " + dump);
            System.out.flush();
            // Callers hang in the store, so closing it would hang too.
            Runtime.getRuntime().halt(3);
            throw e;
        }
    }

    /** Prints the disturbances that never happened: the run proves nothing about them. */
    private boolean neverHappened(VerifyReport report) {
        boolean idle = false;
        for (String name : VerifyRun.EXPECTED_DISTURBANCES) {
            if (report.count(name) == 0 && !(name.contains("links") && servers == 1)) {
                System.out.println("verify: this never happened: " + name.substring(name.indexOf('.') + 1));
                idle = true;
            }
        }
        return idle;
    }

    private static void table(VerifyReport report) {
        String group = "";
        for (Map.Entry<String, Long> count : report.counts().entrySet()) {
            final int dot = count.getKey().indexOf('.');
            if (!count.getKey().substring(0, dot).equals(group)) {
                group = count.getKey().substring(0, dot);
                System.out.println(group);
            }
            System.out.printf(Locale.ROOT, "  %-42s %,12d%n", count.getKey().substring(dot + 1), count.getValue());
        }
    }
}
