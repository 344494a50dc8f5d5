package org.rowankv.check.disturb;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.rowankv.check.local.TemporaryCluster;
import org.rowankv.runtime.RandomSource;
import org.rowankv.runtime.SystemClock;

/**
 * Injector of faults into a cluster: process faults in rounds, each of which ends when all servers serve again, and
 * continuous breaks of client connections.
 *
 * <p>Rounds are confined to one thread; counts and texts are safe for any thread.
 */
public final class Disturber implements AutoCloseable {
    private static final long LONGEST_PAUSE_BETWEEN_CUTS_NS = TimeUnit.MILLISECONDS.toNanos(300);
    private static final int END_TIMEOUT_SECONDS = 20;

    private final TemporaryCluster cluster;
    private final List<KillingProxy> proxies;
    private final Set<Disturbance> kinds;
    private final DisturbancePlan plan;
    private final PrimaryTransfers swaps;
    private final ExecutorService hands = Executors.newFixedThreadPool(2, task -> daemon("disturber", task));
    private final @Nullable Thread cutting;
    private final List<FaultRound> faults = new ArrayList<>();
    private final Map<Disturbance, Long> counts = new EnumMap<>(Disturbance.class);
    private volatile String underWay = "";
    private volatile boolean over;

    /**
     * Starts to cut connections, if the kinds include that.
     *
     * @param kinds the faults to inject
     * @param longestStopNs longest stop of a process
     */
    public Disturber(
            TemporaryCluster cluster,
            List<KillingProxy> proxies,
            Set<Disturbance> kinds,
            long longestStopNs,
            RandomSource random) {
        this.cluster = cluster;
        this.proxies = List.copyOf(proxies);
        this.kinds = Set.copyOf(kinds);
        this.plan = new DisturbancePlan(kinds, cluster.cluster().shape().servers(), longestStopNs, random.fork("plan"));
        this.swaps = new PrimaryTransfers(cluster, random.fork("swaps"));
        final RandomSource ofCuts = random.fork("cuts");
        this.cutting = kinds.contains(Disturbance.CUTS) ? daemon("disturber-cuts", () -> cut(ofCuts)) : null;
        if (cutting != null) {
            cutting.start();
        }
    }

    private static Thread daemon(String name, Runnable task) {
        final Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        return thread;
    }

    /** Count of each requested kind. */
    public synchronized Map<Disturbance, Long> counts() {
        final Map<Disturbance, Long> all = new EnumMap<>(Disturbance.class);
        kinds.forEach(kind -> all.put(kind, counts.getOrDefault(kind, 0L)));
        all.computeIfPresent(
                Disturbance.CUTS,
                (kind, count) ->
                        proxies.stream().mapToLong(KillingProxy::killed).sum());
        return all;
    }

    private synchronized void happened(Disturbance kind) {
        counts.merge(kind, 1L, Long::sum);
    }

    /** The completed rounds. */
    public synchronized List<FaultRound> faults() {
        return List.copyOf(faults);
    }

    /** Human-readable current activity; may be empty. */
    public String underWay() {
        return underWay;
    }

    private void cut(RandomSource random) {
        while (!over) {
            pause(LONGEST_PAUSE_BETWEEN_CUTS_NS / 3
                    + random.nextInt((int) (LONGEST_PAUSE_BETWEEN_CUTS_NS / 1000)) * 667L);
            proxies.get(random.nextInt(proxies.size())).killOne(random);
        }
    }

    private void pause(long lengthNs) {
        final long untilNs = SystemClock.INSTANCE.nanoTime() + lengthNs;
        for (long leftNs = lengthNs; !over && leftNs > 0; leftNs = untilNs - SystemClock.INSTANCE.nanoTime()) {
            LockSupport.parkNanos(this, leftNs);
        }
    }

    /**
     * Injects one fault, or two at once; returns when all servers serve again.
     *
     * @throws IOException if they do not, or if a process has ended that was not killed here; the message says why
     */
    public void round() throws IOException {
        final List<ServerFault> planned = plan.nextRound();
        if (planned.isEmpty()) {
            return;
        }
        final String text = planned.stream().map(ServerFault::text).collect(Collectors.joining("; "));
        final long fromNs = SystemClock.INSTANCE.nanoTime();
        underWay = text;
        try {
            final List<Future<Boolean>> done = new ArrayList<>();
            for (ServerFault each : planned) {
                done.add(hands.submit(() -> perform(each)));
            }
            for (Future<Boolean> each : done) {
                await(each, text);
            }
            underWay = "waiting for the cluster after: " + text;
            swaps.awaitAllServe();
        } finally {
            underWay = "";
        }
        synchronized (this) {
            faults.add(new FaultRound(text, fromNs, SystemClock.INSTANCE.nanoTime()));
        }
    }

    private static void await(Future<Boolean> fault, String text) throws IOException {
        try {
            final boolean unused = fault.get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted during: " + text);
        } catch (ExecutionException e) {
            throw new IOException("during: " + text + ": " + e.getCause(), e.getCause());
        }
    }

    private boolean perform(ServerFault fault) throws IOException, InterruptedException {
        pause(fault.afterNs());
        final int server = fault.server();
        switch (fault.kind()) {
            case KILLS ->
                kill(fault, cluster.cluster().serverProcess(server), () -> {
                    cluster.cluster().startServer(server);
                    return true;
                });
            case ZOOKEEPER_KILLS ->
                kill(fault, cluster.cluster().zooKeeperProcess(), () -> {
                    cluster.cluster().startZooKeeper();
                    return true;
                });
            case STOPS -> stop(fault, cluster.cluster().serverProcess(server));
            case ZOOKEEPER_STOPS -> stop(fault, cluster.cluster().zooKeeperProcess());
            case SWAPS -> {
                if (swaps.swapAboutHalf()) {
                    happened(Disturbance.SWAPS);
                }
            }
            case CUTS -> throw new IllegalStateException("cuts have no rounds");
        }
        return true;
    }

    private static ProcessHandle running(ServerFault fault, Optional<ProcessHandle> process) throws IOException {
        return process.orElseThrow(() -> new IOException("the process has ended by itself before: " + fault.text()));
    }

    private void kill(ServerFault fault, Optional<ProcessHandle> process, Callable<Boolean> restart)
            throws IOException, InterruptedException {
        final ProcessHandle running = running(fault, process);
        final boolean sent = running.destroyForcibly();
        try {
            final ProcessHandle ended = running.onExit().get(END_TIMEOUT_SECONDS, TimeUnit.SECONDS);
            if (!sent) {
                throw new IOException("process " + ended.pid() + " ended by itself before: " + fault.text());
            }
            happened(fault.kind());
            pause(fault.lengthNs());
            final boolean unused = restart.call();
        } catch (TimeoutException e) {
            throw new IOException("process " + running.pid() + " does not end by SIGKILL", e);
        } catch (IOException | InterruptedException e) {
            throw e;
        } catch (Exception e) {
            throw new IOException(e);
        }
    }

    private void stop(ServerFault fault, Optional<ProcessHandle> process) throws IOException {
        try (StoppedProcess stopped = StoppedProcess.stop(running(fault, process))) {
            assert stopped != null;
            pause(fault.lengthNs());
        }
        happened(fault.kind());
    }

    /** Stops all disturbances. */
    @Override
    public void close() throws IOException {
        over = true;
        hands.shutdown();
        if (cutting != null) {
            LockSupport.unpark(cutting);
            try {
                cutting.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new InterruptedIOException("interrupted");
            }
        }
        swaps.close();
    }
}
