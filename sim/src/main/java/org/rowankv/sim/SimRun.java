package org.rowankv.sim;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.function.LongFunction;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.rowankv.runtime.Clock;
import org.rowankv.sim.workload.Coverage;

/**
 * A run of many seeds, in sequence on each of a few threads.
 *
 * @param <R> result of a seed
 */
public final class SimRun<R extends SeedReport<R>> {
    private static final long PROGRESS_NS = 5_000_000_000L;
    private static final int MOST_VIOLATIONS = 3;

    private final Supplier<LongFunction<R>> perThread;
    private final LongSupplier order;
    private final int seeds;
    private final int threads;
    private final boolean twice;
    private final Clock clock;
    private final PrintStream out;

    private final EventCounters eventCounters = new EventCounters();
    private final Coverage coverage = new Coverage();
    private final List<R> violations = new ArrayList<>();
    private int begun;
    private int done;
    private long nextProgressNs;
    private long startNs;

    /**
     * @param perThread creates, once per thread, the runner of a seed
     * @param order supplies the next seed
     * @param seeds number of seeds
     * @param twice whether every seed runs twice, to check that both runs are equal
     */
    public SimRun(
            Supplier<LongFunction<R>> perThread,
            LongSupplier order,
            int seeds,
            int threads,
            boolean twice,
            Clock clock,
            PrintStream out) {
        this.perThread = perThread;
        this.order = order;
        this.seeds = seeds;
        this.threads = threads;
        this.twice = twice;
        this.clock = clock;
        this.out = out;
    }

    /** Returns the violations, those of the smallest seeds first. Stops after a few. */
    public List<R> run() {
        SimThread.installPoints();
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
        violations.sort(Comparator.comparingLong(SeedReport::seed));
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
        final LongFunction<R> running = perThread.get();
        for (long seed = next(); seed >= 0; seed = next()) {
            final R report = running.apply(seed);
            report(report, twice ? running.apply(seed) : report);
        }
    }

    private synchronized long next() {
        return begun < seeds && violations.size() < MOST_VIOLATIONS ? nextOf(order) : -1;
    }

    private long nextOf(LongSupplier ordered) {
        begun++;
        return ordered.getAsLong();
    }

    private synchronized void report(R report, R again) {
        done++;
        eventCounters.addAll(report.eventCounters());
        coverage.addAll(report.coverage());
        if (report.violation() != null) {
            // At once: the run may be killed before it ends.
            out.println("sim: found something, repeat it with: " + FoundSeeds.keep(report));
            violations.add(report);
        } else if (again.hash() != report.hash()) {
            violations.add(report.withViolation("the same seed took another path the second time: trace "
                    + Long.toHexString(report.hash()) + ", then " + Long.toHexString(again.hash())));
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
                    eventCounters.of("operations"),
                    violations.size());
        }
    }

    public EventCounters eventCounters() {
        return eventCounters;
    }

    public Coverage coverage() {
        return coverage;
    }

    public int done() {
        return done;
    }
}
