package org.rowankv.check.chaos;

import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.rowankv.check.cluster.ClusterReplicas;
import org.rowankv.check.local.TemporaryCluster;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.SystemClock;
import org.rowankv.topology.Configuration;

/**
 * One run of {@code chaos}: server processes with two replicas and a ZooKeeper, loads that judge their answers, and one fault
 * after the other. A fault begins when the cluster is whole. Confined to one thread.
 */
public final class ChaosRun {
    private static final long BEFORE_NS = TimeUnit.MILLISECONDS.toNanos(300);
    private static final long AFTER_NS = TimeUnit.MILLISECONDS.toNanos(300);
    private static final long WARM_UP_NS = TimeUnit.SECONDS.toNanos(4);
    /** Histories of so long are checked at once. */
    private static final long CALM_WINDOW_NS = TimeUnit.SECONDS.toNanos(5);
    /** Then the replicas are compared, and another cluster begins: failover leaves all shards at two servers at last. */
    private static final int FAULTS_PER_CLUSTER = 12;

    private final ChaosSettings settings;
    private final PrintStream out;
    private final ChaosFindings findings = new ChaosFindings();
    private final List<FaultOutcome> outcomes = new ArrayList<>();
    private final ChaosPlan plan;
    private final long startNs = SystemClock.INSTANCE.nanoTime();
    private long operations;
    private long events;
    private long eventsLost;
    private ChaosReport.@Nullable Calm calm;

    public ChaosRun(ChaosSettings settings, PrintStream out) {
        this.settings = settings;
        this.out = out;
        this.plan = new ChaosPlan(
                settings.faults(),
                settings.servers(),
                TimeUnit.MILLISECONDS.toNanos(settings.leaseMs()),
                new SplittableRandomSource(settings.seed()).fork("plan"));
    }

    /** Outages of the faults so far, as lines. */
    public List<String> table() {
        return new OutageTable(outcomes).lines();
    }

    /** Writes the outages of each fault and shard. */
    public void writeCsv(java.nio.file.Path file) throws IOException {
        new OutageTable(outcomes).writeCsv(file);
    }

    public ChaosReport run() throws IOException {
        boolean whole = true;
        while (whole && goesOn()) {
            final long before = findings.total();
            try (ChaosCluster cluster = ChaosCluster.start(settings)) {
                say(settings.servers() + " servers in " + cluster.cluster().dir());
                boolean well = false;
                try {
                    whole = run(cluster);
                    well = whole && findings.total() == before;
                } finally {
                    findings.take().forEach(this::say);
                    if (!well) {
                        cluster.cluster().keep();
                        say("logs and data are kept in " + cluster.cluster().dir());
                    }
                }
            }
        }
        return report();
    }

    private void say(String line) {
        out.printf(Locale.ROOT, "chaos: %6.1f s  %s%n", (SystemClock.INSTANCE.nanoTime() - startNs) / 1e9, line);
        out.flush();
    }

    /** The life of one cluster; returns whether it was whole after the last fault. */
    private boolean run(ChaosCluster cluster) throws IOException {
        boolean whole = true;
        try (ChaosLoad load = ChaosLoad.start(cluster, settings, findings)) {
            findings.mayFail(false);
            load.beginWindow();
            pause(WARM_UP_NS);
            load.endWindow();
            if (settings.isCalm()) {
                calm = calm(cluster, load);
            }
            final FaultHand hand = new FaultHand(cluster, () -> awaitWhole(cluster));
            for (int fault = 0; !settings.isCalm() && whole && fault < FAULTS_PER_CLUSTER && goesOn(); fault++) {
                final long lostBefore = load.eventsLost();
                spread(cluster);
                final long before = load.operations();
                final FaultOutcome outcome = round(plan.nextRound(), cluster, hand, load);
                outcomes.add(outcome);
                if (outcome.round().kind().isPlanned() && outcome.lack().isEmpty()) {
                    requireEvents(load, lostBefore);
                }
                say(outcome, load.operations() - before);
                findings.take().forEach(this::say);
                whole = outcome.lack().isEmpty();
            }
            findings.mayFail(!whole);
            load.endAndCheck();
            operations += load.operations();
            events += load.events();
            eventsLost += load.eventsLost();
        }
        compare(cluster.cluster());
        return whole;
    }

    private ChaosReport.Calm calm(ChaosCluster cluster, ChaosLoad load) throws IOException {
        final CalmPeriod period = CalmPeriod.begin(cluster);
        while (goesOn()) {
            final long lostBefore = load.eventsLost();
            load.beginWindow();
            pause(CALM_WINDOW_NS);
            load.endWindow();
            requireEvents(load, lostBefore);
            findings.take().forEach(this::say);
        }
        return period.end(cluster);
    }

    /** Where roles are handed over, or nothing happens, a subscriber loses nothing. */
    private void requireEvents(ChaosLoad load, long before) {
        if (load.eventsLost() != before) {
            findings.add(
                    ChaosFindings.Kind.LOST,
                    "events of " + (load.eventsLost() - before) + " shards, though all roles were handed over");
        }
    }

    private boolean goesOn() {
        return settings.rounds() > 0
                ? outcomes.size() < settings.rounds()
                : SystemClock.INSTANCE.nanoTime() - startNs < TimeUnit.SECONDS.toNanos(settings.seconds());
    }

    private FaultOutcome round(ChaosRound round, ChaosCluster cluster, FaultHand hand, ChaosLoad load)
            throws IOException {
        findings.mayFail(!round.kind().isSurvivable());
        final Configuration before = cluster.watch().configuration();
        load.shards().beginMeasuring();
        load.beginWindow();
        pause(BEFORE_NS);
        final long fromNs = SystemClock.INSTANCE.nanoTime();
        FaultHand.Done done = new FaultHand.Done(round.kind().optionName() + " failed", Set.of());
        String lack;
        try {
            done = hand.perform(round);
            lack = awaitWhole(cluster);
        } catch (IOException e) {
            lack = String.valueOf(e.getMessage());
        }
        final long wholeNs = SystemClock.INSTANCE.nanoTime();
        pause(AFTER_NS);
        final long toNs = SystemClock.INSTANCE.nanoTime();
        load.endWindow();
        return new FaultOutcome(
                round,
                done.text(),
                roles(before, done.hit()),
                load.shards().gapsNs(fromNs, toNs),
                load.shards().readGapsNs(fromNs, toNs),
                wholeNs - fromNs,
                lack);
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

    private void say(FaultOutcome outcome, long during) {
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
                during));
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

    private ChaosReport report() {
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
                events,
                eventsLost,
                findings.allowed(),
                outcomes.stream()
                        .filter(outcome -> outcome.round().kind() != ChaosFault.CONTROL
                                && outcome.lack().isEmpty())
                        .count(),
                settings.needsAll(),
                calm);
    }
}
