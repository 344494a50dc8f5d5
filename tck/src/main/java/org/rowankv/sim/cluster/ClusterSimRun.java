package org.rowankv.sim.cluster;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import org.rowankv.runtime.Clock;
import org.rowankv.sim.Happenings;
import org.rowankv.sim.SimOnThread;
import org.rowankv.sim.SimThread;

/** Many seeds, one after the other on each of a few threads. */
final class ClusterSimRun {
    private static final long PROGRESS_NS = 5_000_000_000L;
    private static final int MOST_VIOLATIONS = 3;

    private final long firstSeed;
    private final int seeds;
    private final int threads;
    private final boolean twice;
    private final Clock clock;
    private final PrintStream out;
    private final Happenings happenings = new Happenings();
    private final List<ClusterReport> violations = new ArrayList<>();
    private long nextSeed;
    private int done;
    private long nextProgressNs;
    private long startNs;

    /** @param twice whether every seed is run again, to see that it does the same */
    ClusterSimRun(long firstSeed, int seeds, int threads, boolean twice, Clock clock, PrintStream out) {
        this.firstSeed = firstSeed;
        this.seeds = seeds;
        this.threads = threads;
        this.twice = twice;
        this.clock = clock;
        this.out = out;
    }

    /** The violations that were found, those of the smallest seeds first. Stops after a few. */
    List<ClusterReport> run() {
        SimThread.installPoints();
        nextSeed = firstSeed;
        startNs = clock.nanoTime();
        nextProgressNs = startNs + PROGRESS_NS;
        final List<SimThread> workers = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            final SimThread worker = new SimThread(this::work, "sim-" + i);
            workers.add(worker);
            worker.start();
        }
        for (SimThread worker : workers) {
            join(worker);
        }
        violations.sort(Comparator.comparingLong(report -> report.plan().seed()));
        return List.copyOf(violations);
    }

    private static void join(Thread worker) {
        try {
            worker.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }

    private void work() {
        final MemoryPool pool = new MemoryPool();
        for (long seed = next(); seed >= 0; seed = next()) {
            final ClusterReport report = run(ClusterPlan.of(seed), pool);
            report(report, twice ? run(ClusterPlan.of(seed), pool) : report);
        }
    }

    /** On a thread of its own: what libraries keep for threads would keep whole simulations. */
    static ClusterReport run(ClusterPlan plan, MemoryPool pool) {
        pool.begin();
        final ClusterReport[] report = new ClusterReport[1];
        SimOnThread.run(() -> report[0] = new ClusterSimulation(plan, pool, null).run());
        return report[0];
    }

    private synchronized long next() {
        return nextSeed - firstSeed < seeds && violations.size() < MOST_VIOLATIONS ? nextSeed++ : -1;
    }

    private synchronized void report(ClusterReport report, ClusterReport again) {
        done++;
        happenings.addAll(report.happenings());
        if (report.violation() != null) {
            // At once: the run may be ended before it is through.
            out.println("sim: seed " + report.plan().seed() + " found something");
            violations.add(report);
        } else if (again.hash() != report.hash()) {
            violations.add(new ClusterReport(
                    report.plan(),
                    report.hash(),
                    report.begun(),
                    report.happenings(),
                    "the same seed went another way the second time: trace " + Long.toHexString(report.hash())
                            + ", then " + Long.toHexString(again.hash())));
        }
        final long now = clock.nanoTime();
        if (now >= nextProgressNs) {
            nextProgressNs = now + PROGRESS_NS;
            out.printf(
                    Locale.ROOT,
                    "sim: %,d of %,d seeds, %.1f per second, %,d operations, %d violations%n",
                    done,
                    seeds,
                    done * 1e9 / (now - startNs),
                    happenings.of("operations"),
                    violations.size());
        }
    }

    Happenings happenings() {
        return happenings;
    }

    int done() {
        return done;
    }
}
