package org.rowankv.check;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.rowankv.check.area.ToolDirectory;
import org.rowankv.check.big.BigReport;
import org.rowankv.check.big.BigRun;
import org.rowankv.check.big.BigSettings;
import org.rowankv.check.client.QuietLogs;
import org.rowankv.runtime.SecureSeed;
import org.rowankv.tools.StoreCommand;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code rowan big}: writers and readers of one key with values in parts, whose processes are killed. */
@Command(
        name = "big",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Starts a JVM whose callers put values larger than a segment under one key, and read them, and kills it with"
                    + " SIGKILL; with --cluster against three server processes, of which one is killed too. Each value read must"
                    + " be one that was put, whole; each acknowledged value must be found after the kill, or a later one; and at the"
                    + " end no parts may be left without a value.",
            "The last line is \"big: values=N reads=N refused=N lost=0 mixed=0 orphans=0\"; any other result exits"
                    + " non-zero and keeps the files."
        })
public final class BigCommand implements Callable<Integer> {
    @Option(names = "--rounds", description = "number of kills (default: ${DEFAULT-VALUE})", defaultValue = "5")
    private int rounds;

    @Option(names = "--writers", description = "callers that put (default: ${DEFAULT-VALUE})", defaultValue = "16")
    private int writers;

    @Option(names = "--readers", description = "callers that read (default: ${DEFAULT-VALUE})", defaultValue = "4")
    private int readers;

    @Option(
            names = "--sizes",
            paramLabel = "BYTES,…",
            description =
                    "lengths of the values, of which each put draws one (default: ${DEFAULT-VALUE}). The heap follows the"
                            + " largest: 2 GiB for 256m",
            defaultValue = "5m,64m,256m")
    private String sizes;

    @Option(
            names = "--load-ms",
            description = "longest time before and after each disturbance (default: ${DEFAULT-VALUE})",
            defaultValue = "3000")
    private int loadMs;

    @Option(names = "--cluster", description = "against server processes")
    private boolean cluster;

    @Option(names = "--seed", description = "seed of values and kill times; the exact moment is not reproducible")
    private @Nullable Long seed;

    public static void main(String[] arguments) {
        QuietLogs.setUpForFaults();
        System.exit(StoreCommand.line(new BigCommand()).execute(arguments));
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        final long chosen = seed == null ? SecureSeed.next() >>> 16 : seed;
        final Path dir = Files.createTempDirectory("rowan-big-");
        System.out.println("big: seed " + chosen + ", files in " + dir);
        final BigSettings settings =
                new BigSettings(rounds, writers, readers, BigSettings.sizes(sizes), loadMs, chosen);
        final BigReport report = new BigRun(settings, dir, System.out).run(cluster);
        report.problems().forEach(problem -> System.out.println("big: " + problem));
        if (report.isWell()) {
            ToolDirectory.delete(dir);
        } else {
            System.out.println("big: journals, output and the store are kept in " + dir);
        }
        System.out.println(report.text());
        return report.isWell() ? 0 : 1;
    }
}
