package org.rowankv.check.demo;

import java.io.IOException;
import java.io.PrintStream;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.rowankv.check.disturb.ClusterProcesses;
import org.rowankv.check.disturb.ClusterWatch;
import org.rowankv.check.local.TemporaryCluster;
import org.rowankv.daemon.Launch;
import org.rowankv.daemon.local.ClusterLack;
import org.rowankv.runtime.SystemClock;
import org.rowankv.topology.Configuration;

/**
 * An application on three server processes, one of which is killed and returns: prints a line per second. For one thread.
 */
public final class FailoverDemo {
    public static final int SERVERS = 3;
    private static final int REPLICAS = 2;
    private static final int CALLERS = 24;
    private static final int WIDTH = 30;
    /** The server is killed after one of these parts of the time, and started after three. */
    private static final int PARTS = 5;

    private static final int AWAY_UNTIL = 3;
    private static final int LONGEST_RETURN_SECONDS = 60;
    private static final long SECOND_NS = TimeUnit.SECONDS.toNanos(1);

    private final String name;
    private final int seconds;
    private final Launch launch;
    private final PrintStream out;
    private long mostPerSecond = 1;

    /**
     * Creates it.
     *
     * @param name of the server to lose, or {@code manager}
     * @param seconds of load
     */
    public FailoverDemo(String name, int seconds, Launch launch, PrintStream out) {
        this.name = name;
        this.seconds = seconds;
        this.launch = launch;
        this.out = out;
    }

    /** Returns whether the application noticed nothing but a delay. */
    public boolean run() throws IOException, InterruptedException {
        out.println("starting a ZooKeeper and " + SERVERS + " servers, two replicas of each object");
        try (TemporaryCluster cluster = TemporaryCluster.start("failover", SERVERS, REPLICAS, "128m", launch);
                ClusterWatch watch = new ClusterWatch(cluster.cluster());
                FailoverCallers callers = new FailoverCallers(cluster.uri(), CALLERS)) {
            out.println(CALLERS + " callers, each with a key of its own: put a number, get it back");
            out.println();
            callers.start();
            boolean well = false;
            try {
                show(cluster, watch, callers);
                callers.end();
                well = summary(callers, watch.lack());
            } finally {
                if (!well) {
                    cluster.keep();
                    out.println("failover: logs and data are kept in " + cluster.dir());
                }
            }
            return well;
        }
    }

    private void show(TemporaryCluster cluster, ClusterWatch watch, FailoverCallers callers) throws IOException {
        final ClusterProcesses processes = new ClusterProcesses(cluster.cluster());
        final long startNs = SystemClock.INSTANCE.nanoTime();
        final int killedAt = Math.max(1, seconds / PARTS);
        final int startedAt = Math.max(killedAt + 1, seconds * AWAY_UNTIL / PARTS);
        int server = -1;
        long before = 0;
        String lack = "";
        for (int second = 1;
                second <= seconds || !lack.isEmpty() && second <= seconds + LONGEST_RETURN_SECONDS;
                second++) {
            awaitUntil(startNs + second * SECOND_NS);
            final long now = callers.operations();
            lack = second > startedAt ? watch.lack() : "";
            String event = "";
            if (second == killedAt) {
                server = ClusterProcesses.numberOf(name, watch);
                event = "SIGKILL of " + ClusterProcesses.name(server)
                        + (isManager(watch, server) ? ", the manager" : "");
            } else if (second == startedAt) {
                event = ClusterProcesses.name(server) + " starts";
            } else {
                event = state(watch, server);
            }
            line(second, now - before, callers, event);
            before = now;
            if (second == killedAt) {
                processes.kill(server);
            } else if (second == startedAt) {
                processes.start(server);
            }
        }
    }

    private static boolean isManager(ClusterWatch watch, int server) throws IOException {
        return watch.configuration().manager() == server;
    }

    /** What the cluster does about the lost server. */
    private static String state(ClusterWatch watch, int server) {
        final Configuration configuration;
        try {
            configuration = watch.configuration();
        } catch (IOException e) {
            return String.valueOf(e.getMessage());
        }
        if (server < 0) {
            return "all serve";
        }
        final long degraded = configuration.shards().stream()
                .filter(shard -> ClusterLack.complete(shard) < REPLICAS)
                .count();
        final long held = configuration.shards().stream()
                .filter(shard -> shard.isReplica(server))
                .count();
        final long joining = configuration.shards().stream()
                .filter(shard -> shard.isJoining(server))
                .count();
        final int serving = configuration.members().size();
        if (joining > 0) {
            return String.format(
                    Locale.ROOT, "%d serve, joining %d %%", serving, 100 * (held - joining) / Math.max(1, held));
        }
        return serving + " serve"
                + (degraded > 0
                        ? ", " + degraded + " of " + configuration.shardCount() + " shards have one replica"
                        : ", all replicas complete");
    }

    private void line(int second, long operations, FailoverCallers callers, String state) {
        mostPerSecond = Math.max(mostPerSecond, operations);
        final int filled = (int) (WIDTH * operations / mostPerSecond);
        out.printf(
                Locale.ROOT,
                "%3d s [%s%s] %,7d/s  errors %d  %s%n",
                second,
                "#".repeat(filled),
                ".".repeat(WIDTH - filled),
                operations,
                callers.failures() + callers.wrong(),
                state);
        out.flush();
    }

    private boolean summary(FailoverCallers callers, String lack) {
        out.println();
        if (!callers.lastFailure().isEmpty()) {
            out.println("failover: " + callers.lastFailure());
        }
        if (!lack.isEmpty()) {
            out.println("failover: not whole again: " + lack);
        }
        out.printf(
                Locale.ROOT,
                "failover: operations=%d longest_gap_ms=%d failures=%d wrong=%d whole=%s%n",
                callers.operations(),
                callers.longestGapNs() / 1_000_000,
                callers.failures(),
                callers.wrong(),
                lack.isEmpty());
        return callers.failures() + callers.wrong() == 0 && callers.operations() > 0 && lack.isEmpty();
    }

    private void awaitUntil(long untilNs) {
        for (long leftNs = untilNs - SystemClock.INSTANCE.nanoTime();
                leftNs > 0;
                leftNs = untilNs - SystemClock.INSTANCE.nanoTime()) {
            LockSupport.parkNanos(this, leftNs);
        }
    }
}
