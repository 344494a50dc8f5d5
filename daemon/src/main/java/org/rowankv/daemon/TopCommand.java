package org.rowankv.daemon;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.rowankv.daemon.zookeeper.ZooKeeperConfigurationStore;
import org.rowankv.runtime.SecureSeed;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.configstore.ConfigurationStoreException;
import org.rowankv.server.membership.ClusterView;
import org.rowankv.server.membership.ClusterView.MemberView;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code rowan top}: what the servers of a cluster do, again and again. */
@Command(
        name = "top",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Prints shards, copies, rates and readiness of the servers of a cluster at each interval, on one screen of a"
                    + " terminal, elsewhere as lines. Rates and durations (99th percentile) are of the interval.",
            "Asks each server at its --admin-listen address, which is on the loopback unless set. Goes on while ZooKeeper is away.",
            "Exit codes: 0; 1 if at last no server answers; 2 if there is no such cluster, ZooKeeper does not answer at the"
                    + " start, or for a usage error."
        })
public final class TopCommand implements Callable<Integer> {
    private static final int EXIT_NO_ANSWER = 1;
    private static final double NS_PER_S = 1e9;
    /** Longer than the requests to a server may take. */
    private static final long MOST_WAIT_S = 20;
    /** To the first place of the screen. */
    private static final String HOME = "\033[H";
    /** To the end of the line. */
    private static final String CLEAR_LINE = "\033[K\n";
    /** To the end of the screen. */
    private static final String CLEAR_REST = "\033[J";

    @Spec
    private CommandSpec spec;

    @Mixin
    private ClusterOptions options;

    @Option(names = "--interval", defaultValue = "2", description = "seconds between two samples (${DEFAULT-VALUE})")
    private double intervalSeconds;

    @Option(names = "--count", defaultValue = "0", description = "end after so many intervals (0: never)")
    private long count;

    @Option(names = "--json", description = "print one interval as JSON, and end")
    private boolean json;

    private final boolean isScreen = CommandLine.Help.Ansi.AUTO.enabled();

    public static void main(String[] arguments) {
        System.exit(Commands.execute(new TopCommand(), arguments));
    }

    @Override
    public Integer call() throws InterruptedException {
        if (!(intervalSeconds >= 0.1 && intervalSeconds <= 3600)) {
            throw new ParameterException(spec.commandLine(), "--interval must be 0.1..3600, not " + intervalSeconds);
        }
        final ExecutorService asking = Executors.newCachedThreadPool(task -> {
            final Thread thread = new Thread(task, "rowan-top");
            thread.setDaemon(true);
            return thread;
        });
        try (ZooKeeperConfigurationStore store = options.connect()) {
            final ClusterView view = ClusterView.read(store, SecureSeed.source());
            if (view == null) {
                spec.commandLine().getErr().println("there is no cluster '" + options.cluster() + "' there");
                return CommandLine.ExitCode.USAGE;
            }
            return watch(store, view, asking);
        } catch (ConfigurationStoreException e) {
            spec.commandLine().getErr().println(e.getMessage());
            return CommandLine.ExitCode.USAGE;
        } finally {
            asking.shutdownNow();
        }
    }

    private int watch(ZooKeeperConfigurationStore store, ClusterView first, ExecutorService asking)
            throws InterruptedException {
        ClusterView view = first;
        List<ServerSample> before = samples(view, asking);
        for (long round = 1; ; round++) {
            pause();
            String storeIsAway = "";
            try {
                final @Nullable ClusterView present = ClusterView.read(store, SecureSeed.source());
                view = present == null ? view : present;
            } catch (ConfigurationStoreException e) {
                storeIsAway = "as last read: " + e.getMessage();
            }
            final List<ServerSample> now = samples(view, asking);
            print(new TopText(options.cluster(), view, before, now), storeIsAway);
            final boolean isAnswered = now.stream().anyMatch(ServerSample::hasAnswered);
            if (!isAnswered) {
                spec.commandLine().getErr().println(whyNoAnswer(view));
                spec.commandLine().getErr().flush();
            }
            if (json || round == count) {
                return isAnswered ? CommandLine.ExitCode.OK : EXIT_NO_ANSWER;
            }
            before = now;
        }
    }

    private void pause() {
        final long fromNs = SystemClock.INSTANCE.nanoTime();
        final long forNs = Math.round(intervalSeconds * NS_PER_S);
        for (long leftNs = forNs; leftNs > 0; leftNs = forNs - (SystemClock.INSTANCE.nanoTime() - fromNs)) {
            LockSupport.parkNanos(this, leftNs);
        }
    }

    private static String whyNoAnswer(ClusterView view) {
        final StringBuilder text = new StringBuilder("no server answers at its admin address:");
        for (MemberView member : view.members()) {
            text.append(' ').append(member.name()).append('=');
            text.append(member.admin().isEmpty() ? "none" : member.admin());
        }
        return text.append(" (--admin-listen of the server; a loopback address is reached on its machine only)")
                .toString();
    }

    /** All at once: one that stands still would delay the others. */
    private static List<ServerSample> samples(ClusterView view, ExecutorService asking) throws InterruptedException {
        final List<Future<ServerSample>> asked = new ArrayList<>();
        for (MemberView member : view.members()) {
            asked.add(asking.submit(ServerSample.of(member)));
        }
        final List<ServerSample> samples = new ArrayList<>();
        for (Future<ServerSample> each : asked) {
            try {
                samples.add(each.get(MOST_WAIT_S, TimeUnit.SECONDS));
            } catch (TimeoutException e) {
                samples.add(ServerSample.NONE); // its requests end by themselves
            } catch (ExecutionException e) {
                throw new IllegalStateException("a server cannot be asked", e.getCause());
            }
        }
        return samples;
    }

    private void print(TopText text, String storeIsAway) {
        final PrintWriter out = spec.commandLine().getOut();
        if (json) {
            out.println(text.json());
        } else {
            final List<String> lines = new ArrayList<>(text.lines());
            if (!storeIsAway.isEmpty()) {
                lines.add(1, storeIsAway);
            }
            out.print(isScreen ? HOME : "");
            lines.forEach(line -> out.print(line + (isScreen ? CLEAR_LINE : "\n")));
            out.print(isScreen ? CLEAR_REST : "\n");
        }
        out.flush();
    }
}
