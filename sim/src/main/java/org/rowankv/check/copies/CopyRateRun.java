package org.rowankv.check.copies;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.rowankv.check.disturb.ClusterProcesses;
import org.rowankv.check.disturb.ClusterWatch;
import org.rowankv.check.local.TemporaryCluster;
import org.rowankv.daemon.Launch;
import org.rowankv.daemon.local.ClusterLack;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.net.NetSettings;
import org.rowankv.runtime.RandomSource;
import org.rowankv.runtime.SystemClock;
import org.rowankv.topology.Configuration;

/**
 * Three server processes with two replicas, one of which is lost under half load, with its disk or without: how fast it is
 * complete again, and how slow callers become meanwhile. For one thread.
 */
public final class CopyRateRun {
    private static final int SERVERS = 3;
    private static final int REPLICAS = 2;
    private static final int CALLERS = 4;
    private static final int NONE = -1;
    private static final double P99 = 99;
    private static final double NS_PER_MS = 1e6;
    private static final long LOOK_NS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final long SAY_NS = TimeUnit.SECONDS.toNanos(3);
    private static final long PATIENCE_NS = TimeUnit.MINUTES.toNanos(3);
    /** More than an object takes in a log: its header, checksum and alignment. */
    private static final long MOST_AROUND_OBJECT = 256;

    private static final long LEAST_CAPACITY = 128L << 20;
    private static final Pattern ENTRIES = Pattern.compile("rowan_index_entries(?:\\{.*})? ([0-9.]+)");

    private final CopiedObjects objects;
    private final int seconds;
    private final boolean isReturning;
    private final Launch launch;
    private final RandomSource random;
    private final PrintStream out;

    /**
     * Creates it.
     *
     * @param objects to store
     * @param valueBytes length of each value
     * @param seconds of full load, and of half load before the loss
     * @param isReturning whether the server that is lost keeps its disk
     */
    public CopyRateRun(
            int objects,
            int valueBytes,
            int seconds,
            boolean isReturning,
            Launch launch,
            RandomSource random,
            PrintStream out) {
        this.objects = new CopiedObjects(objects, valueBytes);
        this.seconds = seconds;
        this.isReturning = isReturning;
        this.launch = launch;
        this.random = random;
        this.out = out;
    }

    /**
     * Runs it.
     *
     * @throws IOException if the cluster does not become whole again
     */
    public CopyRateReport run() throws IOException {
        // Twice what two thirds of the objects take, so that no cleaner runs.
        final long capacity = LEAST_CAPACITY
                + 2L * REPLICAS * objects.count() * (objects.valueBytes() + MOST_AROUND_OBJECT) / SERVERS;
        out.println("starting a ZooKeeper and " + SERVERS + " servers, two replicas of each object");
        try (TemporaryCluster cluster =
                        TemporaryCluster.start("copy", SERVERS, REPLICAS, (capacity >> 20) + "m", launch);
                ClusterWatch watch = new ClusterWatch(cluster.cluster());
                RowanClient client = RowanClient.connect(cluster.addresses(), NetSettings.DEFAULT.withSpinNs(0))) {
            final int cacheId = client.catalogue().create("copied", new byte[0]).id();
            out.printf(Locale.ROOT, "putting %,d objects of %,d bytes%n", objects.count(), objects.bytes(1));
            objects.put(client, cacheId, 0, objects.count(), random);
            try (PacedCallers callers = new PacedCallers(client, cacheId, objects, CALLERS, random)) {
                return measure(cluster, watch, callers);
            }
        }
    }

    private CopyRateReport measure(TemporaryCluster cluster, ClusterWatch watch, PacedCallers callers)
            throws IOException {
        out.printf(Locale.ROOT, "%d callers for %d s as fast as they can, then at half that rate%n", CALLERS, seconds);
        pause(seconds); // what is measured is warm
        final long before = callers.operations();
        pause(seconds);
        final double half = (callers.operations() - before) / (2.0 * seconds);
        callers.rate(half);
        pause(1);
        callers.takeTimes();
        pause(seconds);
        final double controlMs = callers.takeTimes().getValueAtPercentile(P99) / NS_PER_MS;

        final int lost = serverToLose(watch.configuration());
        out.println(ClusterProcesses.name(lost) + " is killed, and starts with "
                + (isReturning ? "what it had" : "an empty directory"));
        final long left = entriesBut(cluster, lost);
        replace(cluster, lost);
        await(watch, "nothing is copied", Look::isJoining);
        callers.takeTimes();
        final long operations = callers.operations();
        final long fromNs = SystemClock.INSTANCE.nanoTime();
        await(watch, "copies are missing", Look::isComplete);
        final long tookNs = SystemClock.INSTANCE.nanoTime() - fromNs;
        final double copyingPerSecond = (callers.operations() - operations) * 1e9 / tookNs;
        final double copyingMs = callers.takeTimes().getValueAtPercentile(P99) / NS_PER_MS;
        await(watch, "the new server does not serve", now -> watch.lack().isEmpty());
        final long entries = entriesBut(cluster, NONE) - left;
        return new CopyRateReport(
                entries,
                objects.bytes(entries),
                tookNs / 1e9,
                half,
                controlMs,
                copyingMs,
                copyingPerSecond,
                callers.failures(),
                callers.lastFailure());
    }

    /** Not the manager, whose loss is that of the election too. */
    private static int serverToLose(Configuration configuration) {
        return configuration.manager() == SERVERS - 1 ? SERVERS - 2 : SERVERS - 1;
    }

    private void replace(TemporaryCluster cluster, int server) throws IOException {
        final ClusterProcesses processes = new ClusterProcesses(cluster.cluster());
        processes.kill(server);
        if (!isReturning) {
            delete(cluster.cluster().dataOf(server));
        }
        processes.start(server);
    }

    private static void delete(Path data) throws IOException {
        try (Stream<Path> all = Files.walk(data)) {
            for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        }
    }

    /**
     * What the stored configuration says. The new server gets the copies if it comes soon, and otherwise the others do.
     */
    private record Look(Configuration configuration) {
        boolean isJoining() {
            return configuration.shards().stream()
                    .anyMatch(shard -> !shard.joining().isEmpty());
        }

        boolean isComplete() {
            return configuration.shards().stream().allMatch(shard -> ClusterLack.complete(shard) >= REPLICAS)
                    && !isJoining();
        }
    }

    /** A state of the cluster that is waited for. */
    private interface Goal {
        boolean isReached(Look now);
    }

    private void await(ClusterWatch watch, String otherwise, Goal goal) throws IOException {
        final long fromNs = SystemClock.INSTANCE.nanoTime();
        long saidNs = fromNs;
        while (!goal.isReached(new Look(watch.configuration()))) {
            final long nowNs = SystemClock.INSTANCE.nanoTime();
            if (nowNs - fromNs > PATIENCE_NS) {
                throw new IOException(
                        otherwise + " after " + TimeUnit.NANOSECONDS.toSeconds(PATIENCE_NS) + " s: " + watch.lack());
            }
            if (nowNs - saidNs > SAY_NS) {
                saidNs = nowNs;
                out.println("waiting: " + watch.lack());
            }
            LockSupport.parkNanos(this, LOOK_NS);
        }
    }

    /** Entries of the indexes of all servers but one. */
    private static long entriesBut(TemporaryCluster cluster, int server) throws IOException {
        long entries = 0;
        for (int each = 0; each < SERVERS; each++) {
            entries += each == server ? 0 : entriesOf(cluster.cluster().metricsOf(each));
        }
        return entries;
    }

    private static long entriesOf(String metrics) throws IOException {
        final Matcher matcher = ENTRIES.matcher(metrics);
        if (!matcher.find()) {
            throw new IOException("a server does not say how many entries it has");
        }
        return (long) Double.parseDouble(matcher.group(1));
    }

    private void pause(int forSeconds) {
        final long untilNs = SystemClock.INSTANCE.nanoTime() + TimeUnit.SECONDS.toNanos(forSeconds);
        for (long leftNs = untilNs - SystemClock.INSTANCE.nanoTime();
                leftNs > 0;
                leftNs = untilNs - SystemClock.INSTANCE.nanoTime()) {
            LockSupport.parkNanos(this, leftNs);
        }
    }
}
