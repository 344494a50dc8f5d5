package org.rowankv.check;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.rowankv.check.client.QuietLogs;
import org.rowankv.check.cluster.ClusterVerifyReport;
import org.rowankv.check.cluster.ClusterVerifyRun;
import org.rowankv.check.cluster.ClusterVerifySettings;
import org.rowankv.check.cluster.JavaOptions;
import org.rowankv.check.disturb.Disturbance;
import org.rowankv.runtime.SecureSeed;
import org.rowankv.tools.StoreCommand;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code rowan verify --cluster}: client JVMs and server processes under injected faults. */
@Command(
        name = "verify --cluster",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Starts a ZooKeeper, three server processes, and client JVMs, one of which only reads. Their callers read, put,"
                    + " compare-and-set, getAndPut, remove and invoke on a few keys of a cache, increment counters, and extend"
                    + " chains whose values each name their predecessor.",
            "Meanwhile servers and ZooKeeper are killed and restarted, or stopped (SIGSTOP) and continued, primaries of"
                    + " half of the shards are transferred, sometimes two of these at once, and a proxy cuts connections. After"
                    + " each fault all servers must serve again. Every key's history is checked for linearizability, and at"
                    + " the end the servers' files must hold the same objects.",
            "While a server is down operations fail: the reply must say that they had no effect (refused), or that they may"
                    + " have had one, once (unknown), within 15 s and with no other exception. The number of unknown outcomes is"
                    + " bounded by the faults.",
            "The last line is \"verify: operations=N reconnects=N stale_terms=N retries_joined=N kills=N stops=N"
                    + " zookeeper_stops=N zookeeper_kills=N swaps=N cuts=N refused=N unknown=N anomalies=0 app_exceptions=0\"."
                    + " The exit code is non-zero for any other, and when a requested disturbance never happened, or"
                    + " had no effect (reconnects, stale_terms, retries_joined): such a run proves nothing."
        })
public final class ClusterVerifyCommand implements Callable<Integer> {
    private static final int MOST_LINES = 10;
    private static final int SECONDS_PER_MINUTE = 60;
    private static final int DEFAULT_SECONDS = 60;
    private static final String ALL = "kills,stops,zookeeper-stops,zookeeper-kills,swaps,cuts";

    @Spec
    private CommandSpec spec;

    @Option(names = "--cluster", required = true, description = "run against server processes")
    @SuppressWarnings("UnusedVariable") // distinguishes the two forms
    private boolean cluster;

    @Option(names = "--minutes", description = "minimum length of the run")
    private @Nullable Integer minutes;

    @Option(names = "--seconds", description = "the same in seconds (" + DEFAULT_SECONDS + ")")
    private @Nullable Integer seconds;

    @Option(names = "--threads", description = "total number of callers (${DEFAULT-VALUE})", defaultValue = "8")
    private int threads;

    @Option(
            names = "--jvms",
            description = "client JVMs for these callers, besides the read-only one (${DEFAULT-VALUE})",
            defaultValue = "2")
    private int jvms;

    @Option(
            names = "--keys",
            description = "registers; counters and chains are additional, a tenth each (${DEFAULT-VALUE})",
            defaultValue = "50")
    private int keys;

    @Option(
            names = "--disturbances",
            paramLabel = "NAME,…",
            description = "the faults to inject (${DEFAULT-VALUE})",
            defaultValue = ALL)
    private String disturbances;

    @Option(
            names = "--longest-stop",
            paramLabel = "SECONDS",
            description = "longest stop of a process, in seconds; the shortest is half a second (${DEFAULT-VALUE})",
            defaultValue = "20")
    private int longestStop;

    @Option(
            names = "--seed",
            description =
                    "seed of callers and disturbances, as printed in the first line; process scheduling is not reproduced"
                            + " (drawn)")
    private @Nullable Long seed;

    @Mixin
    private JavaOptions javas;

    public static void main(String[] arguments) {
        QuietLogs.setUpForFaults();
        System.exit(line().execute(arguments));
    }

    /** Creates the parser; a wrong option is reported in one line on the standard error, without the long help. */
    static CommandLine line() {
        return StoreCommand.line(new ClusterVerifyCommand()).setParameterExceptionHandler((failure, arguments) -> {
            final CommandLine of = failure.getCommandLine();
            of.getErr().println(of.getCommandName() + ": " + failure.getMessage() + "; see --help");
            of.getErr().flush();
            return CommandLine.ExitCode.USAGE;
        });
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        final long chosen = seed == null ? SecureSeed.next() >>> 16 : seed;
        final ClusterVerifySettings settings;
        try {
            settings = new ClusterVerifySettings(
                    length(),
                    threads,
                    jvms,
                    keys,
                    chosen,
                    Disturbance.parse(disturbances),
                    longestStop,
                    javas.servers(),
                    javas.client());
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
        }
        System.out.println("verify: seed " + chosen);
        final ClusterVerifyReport report = new ClusterVerifyRun(settings, System.out).run();
        print(report.anomalies());
        print(report.exceptions());
        for (String name : report.neverHappened()) {
            System.out.println("verify: this never happened: " + name);
        }
        if (report.isTooOftenUnknown()) {
            System.out.println("verify: " + report.unknown() + " outcomes are unknown, and the faults explain "
                    + report.mostUnknown() + ": the verdict is weak");
        }
        System.out.println(report.line());
        return report.isWell() ? 0 : 1;
    }

    private int length() {
        if (minutes != null && seconds != null) {
            throw new IllegalArgumentException("give --minutes or --seconds, not both");
        }
        if (minutes == null) {
            return seconds == null ? DEFAULT_SECONDS : seconds;
        }
        if (minutes < 1 || minutes > Integer.MAX_VALUE / SECONDS_PER_MINUTE) {
            throw new IllegalArgumentException("--minutes is " + minutes + ", and has to be at least 1");
        }
        return SECONDS_PER_MINUTE * minutes;
    }

    private static void print(List<String> lines) {
        lines.stream().limit(MOST_LINES).forEach(line -> System.out.println("verify: " + line));
        if (lines.size() > MOST_LINES) {
            System.out.println("verify: and " + (lines.size() - MOST_LINES) + " more");
        }
    }
}
