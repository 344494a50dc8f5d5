package org.rowankv.check;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.rowankv.check.cluster.ClusterVerifyReport;
import org.rowankv.check.cluster.ClusterVerifyRun;
import org.rowankv.check.cluster.ClusterVerifySettings;
import org.rowankv.check.cluster.JavaOptions;
import org.rowankv.check.cluster.QuietLogs;
import org.rowankv.check.store.StoreCommand;
import org.rowankv.runtime.SecureSeed;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code rowan verify --cluster}: client JVMs, server processes, killed connections, swapped primaries. */
@Command(
        name = "verify --cluster",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Starts a ZooKeeper, three server processes, and two client JVMs. Their callers read, put, compare-and-set,"
                    + " getAndPut, remove and invoke on a few keys of a cache, while a proxy kills their connections and the"
                    + " primaries of half of the shards are swapped every few seconds. Every key's history is checked for"
                    + " linearizability; at the end the servers' files must hold the same.",
            "Its last line is \"verify: operations=N reconnects=N stale_terms=N retries_joined=N anomalies=0"
                    + " app_exceptions=0\". It exits non-zero on any other, and when one of the first four is 0: a"
                    + " disturbance that never happened proves nothing."
        })
public final class ClusterVerifyCommand implements Callable<Integer> {
    private static final int MOST_LINES = 10;

    @Option(names = "--cluster", required = true, description = "this form of the command")
    @SuppressWarnings("UnusedVariable") // tells the forms apart
    private boolean cluster;

    @Option(names = "--minutes", description = "how long (default: --seconds)")
    private @Nullable Integer minutes;

    @Option(names = "--seconds", description = "how long (default: ${DEFAULT-VALUE})", defaultValue = "60")
    private int seconds;

    @Option(names = "--threads", description = "callers in all (default: ${DEFAULT-VALUE})", defaultValue = "8")
    private int threads;

    @Option(names = "--jvms", description = "client JVMs (default: ${DEFAULT-VALUE})", defaultValue = "2")
    private int jvms;

    @Option(names = "--keys", description = "on how many keys (default: ${DEFAULT-VALUE})", defaultValue = "50")
    private int keys;

    @Option(names = "--seed", description = "of callers and disturbances; how processes interleave is not in it")
    private @Nullable Long seed;

    @Mixin
    @SuppressWarnings("NullAway.Init") // set by picocli
    private JavaOptions javas;

    public static void main(String[] arguments) {
        QuietLogs.setUp();
        System.exit(StoreCommand.line(new ClusterVerifyCommand()).execute(arguments));
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        final long chosen = seed == null ? SecureSeed.next() >>> 16 : seed;
        System.out.println("verify: seed " + chosen);
        final ClusterVerifySettings settings = new ClusterVerifySettings(
                minutes == null ? seconds : 60 * minutes, threads, jvms, keys, chosen, javas.servers(), javas.client());
        final ClusterVerifyReport report = new ClusterVerifyRun(settings, System.out).run();
        print(report.anomalies());
        print(report.exceptions());
        System.out.println(
                "verify: primaries swapped " + report.swaps() + " times, outcomes unknown: " + report.unknown());
        for (String name : report.neverHappened()) {
            System.out.println("verify: this never happened: " + name);
        }
        System.out.println(report.line());
        return report.isWell() ? 0 : 1;
    }

    private static void print(List<String> lines) {
        lines.stream().limit(MOST_LINES).forEach(line -> System.out.println("verify: " + line));
        if (lines.size() > MOST_LINES) {
            System.out.println("verify: and " + (lines.size() - MOST_LINES) + " more");
        }
    }
}
