package org.rowankv.sim.command;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.LongFunction;
import java.util.function.LongSupplier;
import org.rowankv.runtime.Clock;
import org.rowankv.sim.EventCounters;
import org.rowankv.sim.SeedReport;
import org.rowankv.sim.SimThread;
import org.rowankv.sim.workload.Coverage;

/**
 * A run of many seeds, in sequence on each of a few threads.
 */
final class SimRun {
    private static final long PROGRESS_NS = 5_000_000_000L;
    private static final int MOST_VIOLATIONS = 3;

    private final LongFunction<Form> forms;
    private final LongSupplier order;
    private final int seeds;
    private final int threads;
    private final boolean twice;
    private final Clock clock;
    private final PrintStream out;

    private final Map<Form, EventCounters> eventCounters = new EnumMap<>(Form.class);
    private final Map<Form, Integer> doneOf = new EnumMap<>(Form.class);
    private final Coverage coverage = new Coverage();
    private final List<SeedReport> violations = new ArrayList<>();
    private int begun;
    private int done;
    private long operations;
    private long nextProgressNs;
    private long startNs;

    /**
     * @param forms of each seed
     * @param order supplies the next seed
     * @param seeds number of seeds
     * @param twice whether every seed runs twice, to check that both runs are equal
     */
    SimRun(
            LongFunction<Form> forms,
            LongSupplier order,
            int seeds,
            int threads,
            boolean twice,
            Clock clock,
            PrintStream out) {
        this.forms = forms;
        this.order = order;
        this.seeds = seeds;
        this.threads = threads;
        this.twice = twice;
        this.clock = clock;
        this.out = out;
    }

    /** Returns the violations, those of the smallest seeds first. Stops after a few. */
    List<SeedReport> run() {
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
        final FormedSeeds running = new FormedSeeds(forms);
        for (long seed = next(); seed >= 0; seed = next()) {
            final SeedReport report = running.run(seed, null);
            report(report, twice ? running.run(seed, null) : report);
        }
    }

    private synchronized long next() {
        return begun < seeds && violations.size() < MOST_VIOLATIONS ? nextOf(order) : -1;
    }

    private long nextOf(LongSupplier ordered) {
        begun++;
        return ordered.getAsLong();
    }

    private synchronized void report(SeedReport report, SeedReport again) {
        done++;
        final Form form = forms.apply(report.seed());
        doneOf.merge(form, 1, Integer::sum);
        eventCounters.computeIfAbsent(form, unused -> new EventCounters()).addAll(report.eventCounters());
        operations += report.begun();
        coverage.addAll(report.coverage());
        if (report.violation() != null) {
            // At once: the run may be killed before it ends.
            out.println(
                    "sim: found something, repeat it with: " + FoundSeeds.keep(form.command(report.seed()), report));
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
                    operations,
                    violations.size());
        }
    }

    /** What seeds of a form have met. */
    EventCounters eventCounters(Form form) {
        return eventCounters.getOrDefault(form, new EventCounters());
    }

    /** What all have met. */
    EventCounters eventCounters() {
        final EventCounters all = new EventCounters();
        eventCounters.values().forEach(all::addAll);
        return all;
    }

    Coverage coverage() {
        return coverage;
    }

    int done() {
        return done;
    }

    /** Seeds of a form that are done. */
    int done(Form form) {
        return doneOf.getOrDefault(form, 0);
    }
}
