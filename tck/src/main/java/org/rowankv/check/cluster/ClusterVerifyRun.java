package org.rowankv.check.cluster;

import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import javax.cache.Cache;
import javax.cache.CacheManager;
import org.rowankv.check.cluster.ClientProcess.KeyedEvent;
import org.rowankv.check.history.Anomaly;
import org.rowankv.check.history.Event;
import org.rowankv.check.history.Outcome;
import org.rowankv.check.history.ValueAction;
import org.rowankv.check.history.ValueEvent;
import org.rowankv.check.history.ValueHistoryChecker;
import org.rowankv.node.Launch;
import org.rowankv.node.TemporaryCluster;
import org.rowankv.runtime.RandomSource;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.server.cluster.HostAndPort;

/**
 * One run of {@code verify --cluster}: server processes behind proxies, client JVMs whose callers hammer a few keys through the
 * cache API, connections killed and primaries swapped all the time. Again and again the callers rest, the judge reads every
 * key, and each key's history since the last rest is checked. In the end the servers' files are compared.
 *
 * <p>An operation whose outcome was told to be unknown may take effect as long as its session is open, which is to the end: it
 * stays in the history of its key as one that may have happened at any time since.
 */
public final class ClusterVerifyRun {
    private static final int SERVERS = 3;
    private static final int SHARDS = 12;
    private static final String CAPACITY = "128m";
    private static final int OPERATIONS_PER_WINDOW = 200;
    /** Seconds; a start of all servers takes one or two, on a machine that does nothing else. */
    private static final int PATIENCE = 120;
    /** How long a run goes on at most to see what it has not seen. */
    private static final long LONGER_NS = TimeUnit.MINUTES.toNanos(3);

    private static final long STUCK_NS = TimeUnit.MINUTES.toNanos(5);

    private final ClusterVerifySettings settings;
    private final PrintStream out;
    private final List<KillingProxy> proxies = new ArrayList<>();
    private final List<ClientProcess> clients = new ArrayList<>();
    private final ValueHistoryChecker checker = new ValueHistoryChecker();
    private final List<String> anomalies = new ArrayList<>();
    private final List<String> exceptions = new ArrayList<>();
    private final Map<Integer, List<ValueEvent>> unknown = new HashMap<>();
    private final long[] states;
    private long operations;
    private volatile long lastRestNs = System.nanoTime();
    private volatile boolean over;

    public ClusterVerifyRun(ClusterVerifySettings settings, PrintStream out) {
        this.settings = settings;
        this.out = out;
        this.states = new long[settings.keys()];
    }

    public ClusterVerifyReport run() throws IOException, InterruptedException {
        for (int server = 0; server < SERVERS; server++) {
            proxies.add(new KillingProxy());
        }
        final Launch launch = settings.servers()
                .withAdvertised(proxies.stream().map(KillingProxy::address).toList())
                .withServerOptions("--shards=" + SHARDS);
        try (TemporaryCluster cluster = TemporaryCluster.start("verify", SERVERS, SERVERS, CAPACITY, launch)) {
            for (int server = 0; server < SERVERS; server++) {
                final HostAndPort listening = cluster.cluster().clientsOf(server);
                proxies.get(server).target(listening.resolve());
            }
            out.println("verify: " + SERVERS + " servers in " + cluster.dir());
            boolean well = false;
            try {
                final ClusterVerifyReport report = run(cluster);
                well = report.isWell();
                return report;
            } finally {
                if (!well) {
                    cluster.keep();
                    out.println("verify: logs and data stay in " + cluster.dir());
                }
            }
        } finally {
            over = true;
            proxies.forEach(KillingProxy::close);
        }
    }

    private ClusterVerifyReport run(TemporaryCluster cluster) throws IOException, InterruptedException {
        final String uri = cluster.uri() + "?patience=" + PATIENCE;
        final RandomSource random = new SplittableRandomSource(settings.seed());
        final long swaps;
        try (CacheManager manager = ClientJvm.manager(uri)) {
            final Cache<String, String> judge = ClientJvm.openCache(manager);
            startClients(uri);
            try (Disturber disturber = new Disturber(cluster, proxies, SHARDS, random.fork("disturber"))) {
                disturber.start();
                watch();
                judgeWindows(cluster, judge, disturber);
                swaps = disturber.swaps();
                anomalies.addAll(disturber.failures());
            }
            for (ClientProcess client : clients) {
                final int exitCode = client.end();
                if (exitCode != 0) {
                    anomalies.add("a client process ended with exit code " + exitCode);
                }
            }
        } finally {
            over = true;
            for (ClientProcess client : clients) {
                client.close();
            }
        }
        final ClusterVerifyReport report = report(cluster, swaps);
        if (anomalies.isEmpty()) {
            ClusterReplicas.stopAndCompare(cluster)
                    .forEach(difference -> anomalies.add("replicas disagree: " + difference));
        }
        return new ClusterVerifyReport(
                report.operations(),
                report.reconnects(),
                report.staleTerms(),
                report.joinedRetries(),
                report.unknown(),
                swaps,
                anomalies,
                exceptions);
    }

    private void startClients(String uri) throws IOException {
        for (int jvm = 0; jvm < settings.jvms(); jvm++) {
            final int first = settings.callers() * jvm / settings.jvms();
            final int next = settings.callers() * (jvm + 1) / settings.jvms();
            clients.add(ClientProcess.start(
                    settings.clientJava(), uri, first, next - first, settings.keys(), settings.seed() + jvm));
        }
        for (ClientProcess client : clients) {
            client.requireSameClock();
        }
    }

    /** A client that hangs would be waited for for ever: it is ended then, and the run fails for that. */
    private void watch() {
        final Thread watching = new Thread(
                () -> {
                    while (!over && System.nanoTime() - lastRestNs < STUCK_NS) {
                        LockSupport.parkNanos(this, TimeUnit.SECONDS.toNanos(1));
                    }
                    if (!over) {
                        out.println("verify: stuck: the callers did not come to rest within "
                                + TimeUnit.NANOSECONDS.toSeconds(STUCK_NS) + " s");
                        clients.forEach(ClientProcess::kill);
                    }
                },
                "verify-watch");
        watching.setDaemon(true);
        watching.start();
    }

    private void judgeWindows(TemporaryCluster cluster, Cache<String, String> judge, Disturber disturber)
            throws IOException {
        final long startNs = System.nanoTime();
        final long lengthNs = TimeUnit.SECONDS.toNanos(settings.seconds());
        long nextLineNs = startNs;
        boolean goesOn = true;
        while (goesOn) {
            for (ClientProcess client : clients) {
                client.window(OPERATIONS_PER_WINDOW);
            }
            final Map<Integer, List<ValueEvent>> window = new HashMap<>();
            for (ClientProcess client : clients) {
                final ClientProcess.Window told = client.awaitRest();
                exceptions.addAll(told.exceptions());
                for (KeyedEvent each : told.events()) {
                    window.computeIfAbsent(each.key(), key -> new ArrayList<>()).add(each.event());
                }
                operations += told.events().size();
            }
            lastRestNs = System.nanoTime();
            for (int key = 0; key < settings.keys(); key++) {
                judge(judge, key, window.getOrDefault(key, new ArrayList<>()));
            }
            final long elapsedNs = System.nanoTime() - startNs;
            final boolean enough = elapsedNs >= lengthNs
                    && (report(cluster, disturber.swaps()).neverHappened().isEmpty()
                            || elapsedNs >= lengthNs + LONGER_NS);
            goesOn = anomalies.isEmpty() && disturber.failures().isEmpty() && !enough;
            if (System.nanoTime() - nextLineNs >= 0) {
                progress(elapsedNs / 1e9, disturber);
                nextLineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(settings.seconds() > 30 ? 5 : 1);
            }
        }
    }

    private void judge(Cache<String, String> judge, int key, List<ValueEvent> events) {
        for (ValueEvent event : events) {
            if (event.outcome() == Outcome.UNKNOWN && event.action() != ValueAction.GET) {
                unknown.computeIfAbsent(key, unused -> new ArrayList<>()).add(event);
            }
        }
        final List<ValueEvent> history = new ArrayList<>(unknown.getOrDefault(key, List.of()));
        events.stream().filter(event -> event.outcome() != Outcome.UNKNOWN).forEach(history::add);
        final long invokedNs = System.nanoTime();
        final long found;
        try {
            found = CacheCaller.idOf(judge.get(CacheCaller.key(key)));
        } catch (RuntimeException e) {
            exceptions.add("judge: " + e);
            anomalies.add("key " + key + " could not be read, so nobody knows what the next window begins with: " + e);
            return;
        }
        history.add(new ValueEvent(
                -1,
                ValueAction.GET,
                Event.ABSENT,
                Event.ABSENT,
                found == Event.ABSENT ? Outcome.NOT_FOUND : Outcome.DONE,
                found == Event.ABSENT ? Event.NOT_ASKED : found,
                invokedNs,
                System.nanoTime()));
        for (Anomaly anomaly : checker.check(key, states[key], history)) {
            anomalies.add(anomaly.toString());
        }
        states[key] = found;
    }

    /** What has happened so far. */
    private ClusterVerifyReport report(TemporaryCluster cluster, long swaps) throws IOException {
        long staleTerms = 0;
        long joinedRetries = 0;
        for (int server = 0; server < SERVERS; server++) {
            final Map<String, String> status = cluster.cluster().statusOf(server);
            staleTerms += Long.parseLong(status.getOrDefault("stale-terms", "0"));
            joinedRetries += Long.parseLong(status.getOrDefault("retries-joined", "0"));
        }
        return new ClusterVerifyReport(
                operations,
                clients.stream().mapToLong(ClientProcess::reconnects).sum(),
                staleTerms,
                joinedRetries,
                unknown.values().stream().mapToLong(List::size).sum(),
                swaps,
                anomalies,
                exceptions);
    }

    private void progress(double seconds, Disturber disturber) {
        out.printf(
                Locale.ROOT,
                "verify: %5.1f s  %,d operations, %,d connections killed, %,d reconnects, %,d swaps, %,d unknown outcomes,"
                        + " %,d exceptions, %,d anomalies%n",
                seconds,
                operations,
                proxies.stream().mapToLong(KillingProxy::killed).sum(),
                clients.stream().mapToLong(ClientProcess::reconnects).sum(),
                disturber.swaps(),
                unknown.values().stream().mapToLong(List::size).sum(),
                exceptions.size(),
                anomalies.size());
    }
}
