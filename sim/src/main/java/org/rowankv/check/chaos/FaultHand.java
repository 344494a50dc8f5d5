package org.rowankv.check.chaos;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.rowankv.check.disturb.ClusterProcesses;
import org.rowankv.check.disturb.ClusterWatch;
import org.rowankv.check.disturb.StoppedProcess;
import org.rowankv.check.local.TemporaryCluster;
import org.rowankv.daemon.ServerCommand;
import org.rowankv.runtime.SystemClock;
import org.rowankv.topology.Configuration;

/** Injects one fault at a time into a cluster, and heals it: at the end of {@link #perform} all processes run. */
final class FaultHand {
    private static final int CONTROL_TIMEOUT_SECONDS = 60;

    private final TemporaryCluster cluster;
    private final ClusterProcesses processes;
    private final ClusterWatch watch;
    /** Waits between the two halves of a fault of two servers; returns what the cluster still lacks. */
    private final Wait whole;

    /** A wait until the cluster is whole. */
    @FunctionalInterface
    interface Wait {
        String await() throws IOException;
    }

    /**
     * A fault as it happened.
     *
     * @param hit the servers that were hit
     */
    record Done(String text, Set<Integer> hit) {}

    FaultHand(TemporaryCluster cluster, ClusterProcesses processes, ClusterWatch watch, Wait whole) {
        this.cluster = cluster;
        this.processes = processes;
        this.watch = watch;
        this.whole = whole;
    }

    private static String seconds(long lengthNs) {
        return String.format(Locale.ROOT, "%.1f s", lengthNs / 1e9);
    }

    Done perform(ChaosRound round) throws IOException {
        final Configuration before = watch.configuration();
        final int server = round.kind() == ChaosFault.KILL_MANAGER || round.kind() == ChaosFault.PAUSE_MANAGER
                ? Math.max(0, before.manager())
                : round.server();
        final String name = name(server, before);
        return switch (round.kind()) {
            case CONTROL -> {
                startAJvm();
                yield new Done("a JVM started", Set.of());
            }
            case KILL, KILL_MANAGER -> {
                killAndStart(server, round.lengthNs());
                yield new Done(name + " killed, started after " + seconds(round.lengthNs()), Set.of(server));
            }
            case KILL_TWO_IN_TURN -> {
                killAndStart(server, round.lengthNs());
                final String lack = whole.await();
                if (!lack.isEmpty()) {
                    yield new Done(name + " killed; not whole again, so no other was", Set.of(server));
                }
                killAndStart(round.other(), round.lengthNs());
                yield new Done(
                        name + " killed, then " + ClusterProcesses.name(round.other()), Set.of(server, round.other()));
            }
            case PAUSE, PAUSE_MANAGER -> {
                try (StoppedProcess stopped = processes.stop(server)) {
                    assert stopped != null;
                    pause(round.lengthNs());
                }
                yield new Done(name + " stopped for " + seconds(round.lengthNs()), Set.of(server));
            }
            case POWER -> {
                final List<Integer> order =
                        ChaosPlan.order(cluster.cluster().shape().servers(), round.order());
                processes.killAtOnce(order);
                for (int each : order) {
                    pause(round.lengthNs() / order.size());
                    processes.start(each);
                }
                yield new Done(
                        "all killed, started in the order "
                                + order.stream().map(ClusterProcesses::name).collect(Collectors.joining(" ")),
                        new HashSet<>(order));
            }
        };
    }

    private static String name(int server, Configuration configuration) {
        return ClusterProcesses.name(server) + (configuration.manager() == server ? " (manager)" : "");
    }

    private void killAndStart(int server, long awayNs) throws IOException {
        processes.kill(server);
        pause(awayNs);
        processes.start(server);
    }

    private void startAJvm() throws IOException {
        final Process process = new ProcessBuilder(
                        cluster.launch().java().toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        ServerCommand.class.getName(),
                        "--help")
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        try {
            if (!process.waitFor(CONTROL_TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted");
        }
    }

    private void pause(long lengthNs) {
        final long untilNs = SystemClock.INSTANCE.nanoTime() + lengthNs;
        for (long leftNs = lengthNs; leftNs > 0; leftNs = untilNs - SystemClock.INSTANCE.nanoTime()) {
            LockSupport.parkNanos(this, leftNs);
        }
    }
}
