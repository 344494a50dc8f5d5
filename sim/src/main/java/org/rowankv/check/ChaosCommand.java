package org.rowankv.check;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.rowankv.check.chaos.ChaosFault;
import org.rowankv.check.chaos.ChaosReport;
import org.rowankv.check.chaos.ChaosRun;
import org.rowankv.check.chaos.ChaosSettings;
import org.rowankv.check.client.QuietLogs;
import org.rowankv.check.cluster.JavaOptions;
import org.rowankv.runtime.SecureSeed;
import org.rowankv.tools.StoreCommand;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code rowan chaos}: server processes that are lost and return, under load. */
@Command(
        name = "chaos",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Starts a ZooKeeper and server processes with two replicas, and loads them: callers of a cache read, put, replace,"
                    + " remove and invoke; asynchronous writers and readers use a key of each shard; batches put and remove; a subscriber counts changes.",
            "Then faults, drawn from a seed, one after the other; each begins when all servers serve and all replicas are"
                    + " complete. Applications must notice nothing but a delay: every history is checked, and no operation may"
                    + " fail; the subscriber receives each change once, or is informed of a loss, which must not be where roles are"
                    + " handed over (control, transfer, restart, rolling-restart). Where no server is left to answer"
                    + " (power, zookeeper-and-server, all-replicas) operations may fail, and nothing may be lost."
                    + " After twelve faults the servers' files are compared, and another cluster begins.",
            "With --faults none nothing happens to the servers, and the last line ends with \"exclusions=0 renewals=N"
                    + " lease_margin_ms p50=N p1=N p0.1=N\": servers excluded nevertheless, and what was left at least of"
                    + " leases when they were renewed, but for half, 1 %% and 0.1 %% of them, by buckets of 1, 2 and 5 times a"
                    + " power of ten.",
            "The table says, by kind of fault, for how long a shard completed no operation: if its primary was hit, if a backup"
                    + " was, and if neither was. The control is a JVM that starts, without a fault.",
            "The last line is \"chaos: faults=N kill=N … operations=N lost=0 doubled=0 stale=0 unexplained=0 app_exceptions=0"
                    + " events=N events_lost=N failed_while_down=N survived=N\". The exit code is 0 if all are survived, each named kind happened, and"
                    + " the five are 0."
        })
public final class ChaosCommand implements Callable<Integer> {
    private static final int SECONDS_PER_MINUTE = 60;
    private static final int DEFAULT_MINUTES = 5;
    static final String ALL =
            "control,transfer,restart,rolling-restart,kill,kill-manager,kill-two-in-turn,pause,pause-manager,partition,partition-one-way,"
                    + "partition-zookeeper,full-disk,zookeeper,power,zookeeper-and-server,all-replicas";

    @Spec
    private CommandSpec spec;

    @Option(names = "--minutes", description = "length of the run (" + DEFAULT_MINUTES + ")")
    private @Nullable Integer minutes;

    @Option(names = "--rounds", description = "number of faults, instead of a time")
    private @Nullable Integer rounds;

    @Option(names = "--seed", description = "seed of faults and requests, as printed in the first line (drawn)")
    private @Nullable Long seed;

    @Option(names = "--servers", description = "2 or 3 (${DEFAULT-VALUE})", defaultValue = "3")
    private int servers;

    @Option(names = "--faults", paramLabel = "NAME,…", description = "the kinds to draw from, or none (" + ALL + ")")
    private @Nullable String faults;

    @Option(names = "--lease", description = "lease of the servers, in ms (${DEFAULT-VALUE})", defaultValue = "400")
    private int lease;

    @Option(names = "--threads", description = "callers of the cache (${DEFAULT-VALUE})", defaultValue = "4")
    private int threads;

    @Option(names = "--csv", paramLabel = "FILE", description = "write the outage of each shard in each fault")
    private @Nullable Path csv;

    @Mixin
    private JavaOptions javas;

    public static void main(String[] arguments) {
        QuietLogs.setUpForFaults();
        System.exit(line().execute(arguments));
    }

    /** Creates the parser; a wrong option is reported in one line on the standard error, without the long help. */
    static CommandLine line() {
        return StoreCommand.line(new ChaosCommand()).setParameterExceptionHandler((failure, arguments) -> {
            final CommandLine of = failure.getCommandLine();
            of.getErr().println(of.getCommandName() + ": " + failure.getMessage() + "; see --help");
            of.getErr().flush();
            return CommandLine.ExitCode.USAGE;
        });
    }

    @Override
    public Integer call() throws IOException {
        final ChaosSettings settings;
        try {
            settings = settings();
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
        }
        System.out.println("chaos: seed " + settings.seed());
        final ChaosRun run = new ChaosRun(settings, System.out);
        final ChaosReport report = run.run();
        if (!settings.faults().isEmpty()) {
            run.table().forEach(System.out::println);
        }
        report.neverHappened().forEach(kind -> System.out.println("chaos: this never happened: " + kind.optionName()));
        if (csv != null) {
            run.writeCsv(csv);
        }
        System.out.println(report.line());
        return report.isWell() ? 0 : 1;
    }

    /** The named kinds; or all but those that this system cannot inject, which are said. */
    private List<ChaosFault> chosen() {
        final List<ChaosFault> possible = new ArrayList<>();
        for (ChaosFault each : ChaosFault.parse(faults == null ? ChaosFault.optionNames() : faults)) {
            if (each.isPossible()) {
                possible.add(each);
            } else if (faults == null) {
                System.out.println("chaos: left out, since it needs root on Linux: " + each.optionName());
            } else {
                throw new IllegalArgumentException(
                        "--faults " + each.optionName() + " needs Linux, and full-disk root, for a small tmpfs");
            }
        }
        return possible;
    }

    private ChaosSettings settings() {
        if (minutes != null && rounds != null) {
            throw new IllegalArgumentException("give --minutes or --rounds, not both");
        }
        if (minutes != null && (minutes < 1 || minutes > Integer.MAX_VALUE / SECONDS_PER_MINUTE)) {
            throw new IllegalArgumentException("--minutes is " + minutes + ", and has to be at least 1");
        }
        if (rounds != null && rounds < 1) {
            throw new IllegalArgumentException("--rounds is " + rounds + ", and has to be at least 1");
        }
        return new ChaosSettings(
                rounds == null ? 0 : rounds,
                SECONDS_PER_MINUTE * (minutes == null ? DEFAULT_MINUTES : minutes),
                servers,
                lease,
                threads,
                seed == null ? SecureSeed.next() >>> 16 : seed,
                chosen(),
                faults != null,
                javas.servers());
    }
}
