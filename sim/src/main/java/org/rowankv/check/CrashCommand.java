package org.rowankv.check;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.rowankv.check.area.StoreDirectory;
import org.rowankv.check.crash.CrashReport;
import org.rowankv.check.crash.CrashRun;
import org.rowankv.check.crash.CrashSettings;
import org.rowankv.runtime.SecureSeed;
import org.rowankv.tools.StoreCommand;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code rowan crash}: kills a loaded store at random moments and looks for what was acknowledged. */
@Command(
        name = "crash",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Starts a JVM with three servers that puts, updates, removes and clears at full speed, kills it with SIGKILL"
                    + " at a random moment, and looks whether each server's area alone, and the reopened store, hold what"
                    + " was acknowledged.",
            "Its last line is \"crash: rounds=N acked=N lost=0 resurrected=0\"; anything else exits non-zero and keeps"
                    + " the files."
        })
public final class CrashCommand implements Callable<Integer> {
    @Option(names = "--rounds", description = "how often to kill (default: ${DEFAULT-VALUE})", defaultValue = "200")
    private int rounds;

    @Option(
            names = "--replicas",
            description = "how many of the three servers hold each object (default: ${DEFAULT-VALUE})",
            defaultValue = "3")
    private int replicas;

    @Option(
            names = "--remove-every",
            description =
                    "with two or more replicas: after so many rounds one server's area is removed before the store is"
                            + " opened again, in turn; 0: never (default: ${DEFAULT-VALUE})",
            defaultValue = "4")
    private int removeEvery;

    @Option(
            names = "--power",
            description =
                    "the store is at durability=power, and each kill is made a power cut: of what was stored and not"
                            + " forced, each 8-byte word is kept or dropped by coin, and the next child finds another boot id")
    private boolean power;

    @Option(names = "--seed", description = "of the load and the moments; when a kill strikes is never quite the same")
    private @Nullable Long seed;

    @Option(
            names = "--dir",
            description =
                    "where stores and journals go: a new or empty directory (default: a new one for temporary files)")
    private @Nullable Path directory;

    public static void main(String[] args) {
        System.exit(StoreCommand.line(new CrashCommand()).execute(args));
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        final long chosen = seed == null ? SecureSeed.next() >>> 16 : seed;
        final Path place = directory == null
                ? Files.createTempDirectory("rowan-crash-")
                : StoreDirectory.newOrEmpty(directory).toAbsolutePath(); // stores in it are deleted in between
        System.out.println("crash: seed " + chosen + ", files in " + place);
        final CrashSettings settings = new CrashSettings(rounds, replicas, chosen, power, place);
        final CrashReport report = new CrashRun(settings, removeEvery, System.out, System.console() != null).run();
        for (String problem : report.problems()) {
            System.out.println("crash: " + problem);
        }
        final boolean well = report.problems().isEmpty();
        if (well) {
            if (directory == null) {
                StoreDirectory.delete(place);
            }
        } else {
            System.out.println("crash: round " + report.rounds() + " with seed " + chosen
                    + " found this; stores, journals and output stay in " + place);
        }
        System.out.println("crash: rounds=" + report.rounds() + " acked=" + report.acked() + " lost=" + report.lost()
                + " resurrected=" + report.resurrected());
        return well ? 0 : 1;
    }
}
