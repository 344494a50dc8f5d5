package org.rowankv.check.cluster;

import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import javax.cache.CacheManager;
import org.rowankv.check.client.ClientJvm;
import org.rowankv.check.client.ClientProcess;
import org.rowankv.check.client.Keys;
import org.rowankv.check.client.Window;
import org.rowankv.check.disturb.Disturber;
import org.rowankv.check.disturb.KillingProxy;
import org.rowankv.check.local.TemporaryCluster;
import org.rowankv.daemon.Launch;
import org.rowankv.runtime.RandomSource;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.SystemClock;

/**
 * One run of {@code verify --cluster}: server processes behind proxies, client JVMs whose callers use a few keys
 * through the cache API, and one read-only JVM. In each window the callers start, and a {@link Disturber} injects a
 * fault and waits until the cluster serves again. Then the callers pause, and the {@link KeyChecker} checks their histories.
 * At the end the servers' files are compared.
 */
public final class ClusterVerifyRun {
    private static final int SERVERS = 3;
    private static final int SHARDS = 12;
    private static final String CAPACITY = "128m";
    /** Callers of the read-only JVM. */
    private static final int READERS = 2;
    /** Callers run this long before and after each fault. */
    private static final long BEFORE_NS = TimeUnit.MILLISECONDS.toNanos(300);

    private static final long AFTER_NS = TimeUnit.MILLISECONDS.toNanos(700);
    /** Maximum extension of a run that still lacks an event. */
    private static final long LONGER_NS = TimeUnit.MINUTES.toNanos(3);

    private static final long STUCK_NS = TimeUnit.MINUTES.toNanos(5);

    private final ClusterVerifySettings settings;
    private final PrintStream out;
    private final Keys keys;
    private final List<KillingProxy> proxies = new ArrayList<>();
    private final List<ClientProcess> clients = new ArrayList<>();
    private final List<String> anomalies = new ArrayList<>();
    private final List<String> exceptions = new ArrayList<>();
    /** Totals of the completed windows. */
    private ClientProcess.Counts counts = ClientProcess.Counts.NONE;

    private volatile long lastRestNs = SystemClock.INSTANCE.nanoTime();
    private volatile boolean checking;
    private volatile boolean over;

    public ClusterVerifyRun(ClusterVerifySettings settings, PrintStream out) {
        this.settings = settings;
        this.out = out;
        this.keys = Keys.of(settings.registers());
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
                proxies.get(server).target(cluster.cluster().clientsOf(server).resolve());
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
                    out.println("verify: logs and data are kept in " + cluster.dir());
                }
            }
        } finally {
            over = true;
            proxies.forEach(KillingProxy::close);
        }
    }

    private ClusterVerifyReport run(TemporaryCluster cluster) throws IOException, InterruptedException {
        final String uri = cluster.uri() + "?operation-timeout=" + Bounds.TIMEOUT_SECONDS;
        final RandomSource random = new SplittableRandomSource(settings.seed());
        final ServerCounts serverCounts = new ServerCounts(cluster.cluster());
        final Disturber disturber;
        try (CacheManager manager = ClientJvm.manager(uri)) {
            final KeyChecker checker = new KeyChecker(manager, keys);
            startClients(cluster, uri);
            disturber = new Disturber(
                    cluster,
                    proxies,
                    settings.disturbances(),
                    TimeUnit.SECONDS.toNanos(settings.longestStopSeconds()),
                    random.fork("disturber"));
            try (disturber) {
                startWatch();
                final RunProgress progress =
                        new RunProgress(out, clients, () -> underWay(disturber), exceptions::size, settings.seconds());
                progress.start();
                checkWindows(checker, disturber, serverCounts);
                progress.stop();
            }
            if (anomalies.isEmpty()) {
                anomalies.addAll(checker.checkRetired());
                out.println("verify: " + checker.retired() + " keys were retired, because of unknown outcomes");
            }
            endClients();
        } finally {
            over = true;
            clients.forEach(ClientProcess::close);
        }
        if (anomalies.isEmpty()) {
            ClusterReplicas.stopAndCompare(cluster)
                    .forEach(difference -> anomalies.add("replicas disagree: " + difference));
        }
        return report(disturber, serverCounts);
    }

    private void startClients(TemporaryCluster cluster, String uri) throws IOException {
        for (int jvm = 0; jvm <= settings.jvms(); jvm++) {
            final boolean onlyReads = jvm == settings.jvms();
            final int first = settings.callers() * jvm / settings.jvms();
            final int next = onlyReads ? first + READERS : settings.callers() * (jvm + 1) / settings.jvms();
            clients.add(ClientProcess.start(
                    settings.clientJava(),
                    uri,
                    first,
                    next - first,
                    settings.registers(),
                    settings.seed() + jvm,
                    onlyReads,
                    cluster.dir().resolve("client-" + (jvm + 1) + ".log")));
        }
        for (ClientProcess client : clients) {
            client.requireSameClock();
        }
    }

    private void endClients() throws IOException, InterruptedException {
        for (ClientProcess client : clients) {
            final int exitCode = client.end();
            if (exitCode != 0) {
                anomalies.add("a client process ended with exit code " + exitCode);
            }
        }
    }

    /** Kills a hanging client, which would block the run for ever; the run fails then. */
    private void startWatch() {
        final Thread watching = new Thread(
                () -> {
                    while (!over && SystemClock.INSTANCE.nanoTime() - lastRestNs < STUCK_NS) {
                        LockSupport.parkNanos(this, TimeUnit.SECONDS.toNanos(1));
                    }
                    if (!over) {
                        out.println("verify: stuck: the callers did not stop within "
                                + TimeUnit.NANOSECONDS.toSeconds(STUCK_NS) + " s");
                        clients.forEach(ClientProcess::kill);
                    }
                },
                "verify-watch");
        watching.setDaemon(true);
        watching.start();
    }

    private void checkWindows(KeyChecker checker, Disturber disturber, ServerCounts serverCounts) throws IOException {
        final long startNs = SystemClock.INSTANCE.nanoTime();
        final long lengthNs = TimeUnit.SECONDS.toNanos(settings.seconds());
        boolean goesOn = true;
        // Once without a fault: clients warm up, and servers read the new cache from the configuration store.
        boolean disturbed = false;
        while (goesOn) {
            final Window window = window(checker, disturber, disturbed);
            disturbed = true;
            exceptions.addAll(window.exceptions());
            counts = counts.plus(window.counts());
            window.longCalls().forEach(call -> {
                final String why = Bounds.whyTooLong(call, disturber.faults());
                if (why != null) {
                    anomalies.add(why);
                }
            });
            checking = true;
            anomalies.addAll(checker.check(window));
            serverCounts.ask();
            checking = false;
            lastRestNs = SystemClock.INSTANCE.nanoTime();
            final long elapsedNs = SystemClock.INSTANCE.nanoTime() - startNs;
            final boolean enough = elapsedNs >= lengthNs
                    && (report(disturber, serverCounts).neverHappened().isEmpty() || elapsedNs >= lengthNs + LONGER_NS);
            goesOn = anomalies.isEmpty() && !enough;
        }
    }

    /** Human-readable state of the run. */
    private String underWay(Disturber disturber) {
        return checking ? "judging" : disturber.underWay();
    }

    private Window window(KeyChecker checker, Disturber disturber, boolean disturbed) throws IOException {
        final int[] generations = checker.generations();
        for (ClientProcess client : clients) {
            client.window(generations);
        }
        pause(BEFORE_NS);
        try {
            if (disturbed) {
                disturber.round();
            }
        } catch (IOException e) {
            anomalies.add(String.valueOf(e.getMessage()));
        }
        pause(AFTER_NS);
        final Window window = new Window();
        for (ClientProcess client : clients) {
            client.rest();
        }
        for (ClientProcess client : clients) {
            client.awaitRest(window);
        }
        return window;
    }

    private void pause(long lengthNs) {
        final long untilNs = SystemClock.INSTANCE.nanoTime() + lengthNs;
        for (long leftNs = lengthNs; leftNs > 0; leftNs = untilNs - SystemClock.INSTANCE.nanoTime()) {
            LockSupport.parkNanos(this, leftNs);
        }
    }

    private ClusterVerifyReport report(Disturber disturber, ServerCounts serverCounts) {
        return new ClusterVerifyReport(
                counts.operations(),
                clients.stream().mapToLong(ClientProcess::reconnects).sum(),
                serverCounts.staleTerms(),
                serverCounts.joinedRetries(),
                disturber.counts(),
                counts.refused(),
                counts.unknown(),
                Bounds.mostUnknown(disturber.faults(), settings.callers()),
                anomalies,
                exceptions);
    }
}
