package org.rowankv.check.chaos;

import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import javax.cache.CacheManager;
import org.rowankv.check.client.ClientJvm;
import org.rowankv.check.client.ClientProcess;
import org.rowankv.check.client.Keys;
import org.rowankv.check.client.Window;
import org.rowankv.check.cluster.ClusterReplicas;
import org.rowankv.check.cluster.KeyChecker;
import org.rowankv.check.local.TemporaryCluster;
import org.rowankv.runtime.RandomSource;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.SystemClock;
import org.rowankv.topology.Configuration;

/**
 * One run of {@code chaos}: server processes with two replicas and a ZooKeeper, loads that judge their answers, and one fault
 * after the other. A fault begins when the cluster is whole. Confined to one thread.
 */
public final class ChaosRun {
    private static final int REGISTERS = 40;
    /** Callers of the JVM that only reads. */
    private static final int READERS = 2;

    private static final long BEFORE_NS = TimeUnit.MILLISECONDS.toNanos(300);
    private static final long AFTER_NS = TimeUnit.MILLISECONDS.toNanos(300);
    private static final long WARM_UP_NS = TimeUnit.SECONDS.toNanos(2);
    /** Between comparisons of the replicas, for which the servers stop. */
    private static final int FAULTS_PER_COMPARISON = 25;

    private final ChaosSettings settings;
    private final PrintStream out;
    private final ChaosFindings findings = new ChaosFindings();
    private final List<FaultOutcome> outcomes = new ArrayList<>();
    private final List<ClientProcess> clients = new ArrayList<>();
    private final long startNs = SystemClock.INSTANCE.nanoTime();
    private long windowOperations;
    private long shownOperations;

    public ChaosRun(ChaosSettings settings, PrintStream out) {
        this.settings = settings;
        this.out = out;
    }

    /** Outages of the faults so far, as lines. */
    public List<String> table() {
        return new OutageTable(outcomes).lines();
    }

    /** Writes the outages of each fault and shard. */
    public void writeCsv(java.nio.file.Path file) throws IOException {
        new OutageTable(outcomes).writeCsv(file);
    }

    public ChaosReport run() throws IOException, InterruptedException {
        try (ChaosCluster cluster = ChaosCluster.start(settings)) {
            say(settings.servers() + " servers in " + cluster.cluster().dir());
            boolean well = false;
            try {
                final ChaosReport report = run(cluster);
                well = report.isWell();
                return report;
            } finally {
                if (!well) {
                    cluster.cluster().keep();
                    say("logs and data are kept in " + cluster.cluster().dir());
                }
            }
        }
    }

    private void say(String line) {
        out.printf(Locale.ROOT, "chaos: %6.1f s  %s%n", (SystemClock.INSTANCE.nanoTime() - startNs) / 1e9, line);
        out.flush();
    }

    private ChaosReport run(ChaosCluster chaos) throws IOException, InterruptedException {
        final TemporaryCluster cluster = chaos.cluster();
        final long operations;
        try (CacheManager manager = ClientJvm.manager(cluster.uri());
                ShardLoad shards = new ShardLoad(cluster.addresses(), findings);
                BatchLoad batches = new BatchLoad(cluster.addresses(), findings)) {
            final KeyChecker checker = new KeyChecker(manager, Keys.of(REGISTERS));
            startClients(cluster);
            final FaultHand hand = new FaultHand(chaos, () -> awaitWhole(chaos));
            warmUp(checker);
            final RandomSource random = new SplittableRandomSource(settings.seed());
            final ChaosPlan plan = new ChaosPlan(
                    settings.faults(),
                    settings.servers(),
                    TimeUnit.MILLISECONDS.toNanos(settings.leaseMs()),
                    random.fork("plan"));
            boolean whole = true;
            while (whole && goesOn()) {
                spread(chaos);
                final FaultOutcome outcome = round(plan.nextRound(), chaos, hand, checker, shards, batches);
                outcomes.add(outcome);
                say(outcome, shards.operations() + batches.operations() + windowOperations);
                findings.take().forEach(this::say);
                whole = outcome.lack().isEmpty();
            }
            findings.mayFail(!whole);
            shards.endAndCheck(findings);
            checker.checkRetired().forEach(text -> findings.add(ChaosFindings.Kind.UNEXPLAINED, text));
            batches.check();
            operations = shards.operations() + batches.operations() + windowOperations;
        } finally {
            clients.forEach(ClientProcess::close);
        }
        compare(cluster);
        findings.take().forEach(this::say);
        return report(operations);
    }

    private boolean goesOn() {
        return settings.rounds() > 0
                ? outcomes.size() < settings.rounds()
                : SystemClock.INSTANCE.nanoTime() - startNs < TimeUnit.SECONDS.toNanos(settings.seconds());
    }

    private void startClients(TemporaryCluster cluster) throws IOException {
        for (boolean onlyReads : new boolean[] {false, true}) {
            clients.add(ClientProcess.start(
                    settings.launch().java(),
                    cluster.uri(),
                    onlyReads ? settings.callers() : 0,
                    onlyReads ? READERS : settings.callers(),
                    REGISTERS,
                    settings.seed() + clients.size(),
                    onlyReads,
                    cluster.dir().resolve(onlyReads ? "readers.log" : "callers.log")));
        }
        for (ClientProcess client : clients) {
            client.requireSameClock();
        }
    }

    private void warmUp(KeyChecker checker) throws IOException {
        beginWindow(checker);
        pause(WARM_UP_NS);
        endWindow(checker);
    }

    private void beginWindow(KeyChecker checker) throws IOException {
        final int[] generations = checker.generations();
        for (ClientProcess client : clients) {
            client.window(generations);
        }
    }

    private void endWindow(KeyChecker checker) throws IOException {
        final Window window = new Window();
        for (ClientProcess client : clients) {
            client.rest();
        }
        for (ClientProcess client : clients) {
            client.awaitRest(window);
        }
        windowOperations += window.counts().operations();
        findings.addFailures(
                window.counts().refused() + window.counts().unknown(), "an operation of the cache API failed");
        window.exceptions().forEach(text -> findings.add(ChaosFindings.Kind.APP_EXCEPTIONS, text));
        checker.check(window).forEach(text -> findings.add(ChaosFindings.Kind.UNEXPLAINED, text));
    }

    private FaultOutcome round(
            ChaosRound round,
            ChaosCluster chaos,
            FaultHand hand,
            KeyChecker checker,
            ShardLoad shards,
            BatchLoad batches)
            throws IOException {
        findings.mayFail(!round.kind().isSurvivable());
        final Configuration before = chaos.watch().configuration();
        shards.beginMeasuring();
        beginWindow(checker);
        pause(BEFORE_NS);
        final long fromNs = SystemClock.INSTANCE.nanoTime();
        FaultHand.Done done = new FaultHand.Done(round.kind().optionName() + " failed", Set.of());
        String lack;
        try {
            done = hand.perform(round);
            lack = awaitWhole(chaos);
        } catch (IOException e) {
            lack = String.valueOf(e.getMessage());
        }
        final long wholeNs = SystemClock.INSTANCE.nanoTime();
        pause(AFTER_NS);
        final long toNs = SystemClock.INSTANCE.nanoTime();
        endWindow(checker);
        batches.check();
        final FaultOutcome outcome = new FaultOutcome(
                round,
                done.text(),
                roles(before, done.hit()),
                shards.gapsNs(fromNs, toNs),
                shards.readGapsNs(fromNs, toNs),
                wholeNs - fromNs,
                lack);
        if (lack.isEmpty() && (outcomes.size() + 1) % FAULTS_PER_COMPARISON == 0) {
            findings.mayFail(true); // the servers are stopped
            compare(chaos.cluster());
            chaos.cluster().startServers();
            lack = awaitWhole(chaos);
            if (!lack.isEmpty()) {
                findings.add(ChaosFindings.Kind.UNEXPLAINED, "not whole after a clean stop and start: " + lack);
            }
        }
        return outcome;
    }

    /** Failover leaves all primaries at one server at last: then none would be unaffected by its loss. */
    private void spread(ChaosCluster chaos) throws IOException {
        if (chaos.watch().spreadPrimaries()) {
            final String lack = awaitWhole(chaos);
            if (!lack.isEmpty()) {
                findings.add(ChaosFindings.Kind.UNEXPLAINED, "not whole after a transfer of primaries: " + lack);
            }
        }
    }

    private void compare(TemporaryCluster cluster) {
        try {
            ClusterReplicas.stopAndCompare(cluster)
                    .forEach(difference ->
                            findings.add(ChaosFindings.Kind.UNEXPLAINED, "replicas disagree: " + difference));
        } catch (IOException e) {
            findings.add(ChaosFindings.Kind.UNEXPLAINED, "replicas cannot be compared: " + e.getMessage());
        }
    }

    private static List<FaultOutcome.Role> roles(Configuration before, Set<Integer> hit) {
        return before.shards().stream()
                .map(shard -> hit.contains(shard.primary())
                        ? FaultOutcome.Role.AFFECTED
                        : hit.stream().anyMatch(shard::isReplica)
                                ? FaultOutcome.Role.BACKUP
                                : FaultOutcome.Role.UNAFFECTED)
                .toList();
    }

    private String awaitWhole(ChaosCluster chaos) throws IOException {
        return chaos.awaitWhole(lack -> say("waiting: " + lack));
    }

    private void say(FaultOutcome outcome, long operations) {
        final String whole = outcome.lack().isEmpty()
                ? String.format(Locale.ROOT, "whole after %.1f s", outcome.wholeNs() / 1e9)
                : "NOT WHOLE: " + outcome.lack();
        say(String.format(
                Locale.ROOT,
                "#%d %s: ms without an operation: primary hit %s, backup hit %s, others %s; %s; %,d operations",
                outcomes.size(),
                outcome.text(),
                shown(outcome.longestMs(FaultOutcome.Role.AFFECTED)),
                shown(outcome.longestMs(FaultOutcome.Role.BACKUP)),
                shown(outcome.longestMs(FaultOutcome.Role.UNAFFECTED)),
                whole,
                operations - shownOperations));
        shownOperations = operations;
    }

    private static String shown(long ms) {
        return ms < 0 ? "-" : Long.toString(ms);
    }

    private void pause(long lengthNs) {
        final long untilNs = SystemClock.INSTANCE.nanoTime() + lengthNs;
        for (long leftNs = lengthNs; leftNs > 0; leftNs = untilNs - SystemClock.INSTANCE.nanoTime()) {
            LockSupport.parkNanos(this, leftNs);
        }
    }

    private ChaosReport report(long operations) {
        return new ChaosReport(
                settings.faults().stream()
                        .map(kind -> new ChaosReport.FaultOutcomeCount(
                                kind,
                                outcomes.stream()
                                        .filter(outcome -> outcome.round().kind() == kind)
                                        .count()))
                        .toList(),
                operations,
                findings.count(ChaosFindings.Kind.LOST),
                findings.count(ChaosFindings.Kind.DOUBLED),
                findings.count(ChaosFindings.Kind.STALE),
                findings.count(ChaosFindings.Kind.UNEXPLAINED),
                findings.count(ChaosFindings.Kind.APP_EXCEPTIONS),
                findings.allowed(),
                outcomes.stream()
                        .filter(outcome -> outcome.round().kind() != ChaosFault.CONTROL
                                && outcome.lack().isEmpty())
                        .count(),
                settings.needsAll());
    }
}
