package org.rowankv.check;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.rowankv.check.area.ToolDirectory;
import org.rowankv.check.crash.CrashReport;
import org.rowankv.check.crash.CrashRun;
import org.rowankv.check.crash.CrashSettings;
import org.rowankv.runtime.SecureSeed;
import org.rowankv.tools.StoreCommand;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code rowan crash}: kills a loaded store at random moments and checks acknowledged operations. */
@Command(
        name = "crash",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Starts a JVM with three servers that puts, updates, removes and clears at full speed, kills it with SIGKILL"
                    + " at a random moment, and checks whether each server's area alone, and the reopened store, hold what"
                    + " was acknowledged.",
            "The last line is \"crash: rounds=N acked=N lost=0 resurrected=0\"; any other result exits non-zero and keeps"
                    + " the files."
        })
public final class CrashCommand implements Callable<Integer> {
    @Option(names = "--rounds", description = "number of kills (default: ${DEFAULT-VALUE})", defaultValue = "200")
    private int rounds;

    @Option(
            names = "--replicas",
            description = "replicas of each object on the three servers (default: ${DEFAULT-VALUE})",
            defaultValue = "3")
    private int replicas;

    @Option(
            names = "--remove-every",
            description = "with two or more replicas: remove one server's area every N rounds before the store is"
                    + " reopened, in rotation; 0: never (default: ${DEFAULT-VALUE})",
            defaultValue = "4")
    private int removeEvery;

    @Option(
            names = "--power",
            description = "run at durability=power, and turn each kill into a power cut: of the bytes stored but not"
                    + " forced, each 8-byte word is kept or dropped at random, and the next child gets a new boot id")
    private boolean power;

    @Option(
            names = "--seed",
            description = "seed of the load and the kill times; the exact moment of a kill is not reproducible")
    private @Nullable Long seed;

    @Option(
            names = "--dir",
            description = "directory of stores and journals: new or empty (default: a new temporary one)")
    private @Nullable Path directory;

    public static void main(String[] args) {
        System.exit(StoreCommand.line(new CrashCommand()).execute(args));
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        final long chosen = seed == null ? SecureSeed.next() >>> 16 : seed;
        final Path place = directory == null
                ? Files.createTempDirectory("rowan-crash-")
                : ToolDirectory.newOrEmpty(directory).toAbsolutePath(); // its stores are deleted between rounds
        System.out.println("crash: seed " + chosen + ", files in " + place);
        final CrashSettings settings = new CrashSettings(rounds, replicas, chosen, power, place);
        final CrashReport report = new CrashRun(settings, removeEvery, System.out, System.console() != null).run();
        for (String problem : report.problems()) {
            System.out.println("crash: " + problem);
        }
        final boolean well = report.problems().isEmpty();
        if (well) {
            if (directory == null) {
                ToolDirectory.delete(place);
            }
        } else {
            System.out.println("crash: round " + report.rounds() + " with seed " + chosen
                    + " found this; stores, journals and output are kept in " + place);
        }
        System.out.println("crash: rounds=" + report.rounds() + " acked=" + report.acked() + " lost=" + report.lost()
                + " resurrected=" + report.resurrected());
        return well ? 0 : 1;
    }
}
