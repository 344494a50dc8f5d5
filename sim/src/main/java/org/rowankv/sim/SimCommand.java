package org.rowankv.sim;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.LongFunction;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.SecureSeed;
import org.rowankv.runtime.SystemClock;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code rowan sim}: runs the servers' own code in an order drawn from a seed, under all kinds of faults. */
@Command(
        name = "sim",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Runs whole stores with their clients on one thread, in an order drawn from a seed: crashes at named points,"
                    + " callers that stall or die during an append, fences, lost and duplicated messages, clocks that"
                    + " drift, stores that are full. Every reply is checked for linearizability, replicas are compared,"
                    + " and space accounting is verified.",
            "The last line is \"sim: seeds=N violations=0\"; any other result exits non-zero.",
            "\"sim --mutations\" plants known bugs and checks whether they are caught: see \"sim --mutations --help\"."
        })
public final class SimCommand implements Callable<Integer> {
    @Option(names = "--seeds", description = "number of seeds (default: ${DEFAULT-VALUE})", defaultValue = "500")
    private int seeds;

    @Option(
            names = "--from",
            description = "the first seed, followed by consecutive ones (default: drawn, preferring rare plans)")
    private @Nullable Long from;

    @Option(names = "--seed", description = "run only this seed, and print its trace")
    private @Nullable Long seed;

    @Option(names = "--threads", description = "seeds run in parallel (default: one per processor)")
    private @Nullable Integer threads;

    @Option(names = "--found", description = "run only the seeds kept in the sources, which once had violations")
    private boolean found;

    @Option(names = "--check-determinism", description = "run every seed twice: both runs must be equal")
    private boolean twice;

    @Option(names = "--coverage", description = "print how often each kind of operation met each state of its key")
    private boolean printsCoverage;

    public static void main(String[] args) {
        // Must precede loading of any class of the store: without this the JIT drops its chaos points.
        System.setProperty("rowan.chaos", "true");
        // The simulation checks what agents report; log lines of every start and refused connection are noise here.
        System.setProperty("rowan.log.level", "off");
        ClassLoader.getSystemClassLoader().setDefaultAssertionStatus(true);
        System.exit(new CommandLine(new SimCommand()).execute(args));
    }

    @Override
    public Integer call() {
        if (seeds < 1) {
            throw new CommandLine.ParameterException(new CommandLine(this), "--seeds must be at least 1, not " + seeds);
        }
        if (found) {
            return FoundSeeds.runKept(FoundSeeds.SIM, runner(), SystemClock.INSTANCE, System.out) == 0 ? 0 : 1;
        }
        return seed != null ? replay(seed) : many();
    }

    private int threadCount() {
        return threads == null ? Runtime.getRuntime().availableProcessors() : Math.max(1, threads);
    }

    private int many() {
        // Small seeds are easier to pass on.
        final long first = from == null ? SecureSeed.next() >>> 32 : from;
        System.out.println("sim: seeds " + first + (from == null ? " and on, rare plans first" : " and on"));
        final LongSupplier order =
                from == null ? new RareFirst(first, each -> SimPlan.of(each).traits()) : RareFirst.oneByOne(first);
        final SimRun<SimReport> run =
                new SimRun<>(SimCommand::runner, order, seeds, threadCount(), twice, SystemClock.INSTANCE, System.out);
        final List<SimReport> violations = run.run();
        run.eventCounters().print(System.out);
        if (printsCoverage) {
            run.coverage().print(System.out);
        }
        for (SimReport report : violations) {
            System.out.println("sim: seed " + report.plan().seed() + ": " + report.violation());
        }
        if (!violations.isEmpty()) {
            SimOnThread.run(() -> shrink(violations.get(0)));
        }
        final List<String> missing =
                run.done() >= Expected.FULL_RUN ? Expected.missing(run.eventCounters()) : List.of();
        missing.forEach(what -> System.out.println("sim: this never happened: " + what));
        System.out.println("sim: seeds=" + run.done() + " violations=" + violations.size());
        return violations.isEmpty() && missing.isEmpty() ? 0 : 1;
    }

    private static LongFunction<SimReport> runner() {
        final SimMemories memories = new SimMemories();
        return seed -> new Simulation(SimPlan.of(seed), memories, null).run();
    }

    private static void shrink(SimReport failing) {
        final SimReport smallest = new Shrinking(failing).shrink();
        System.out.println("sim: seed " + failing.plan().seed() + ", made smaller: " + smallest.plan());
        new Simulation(smallest.plan(), new SimMemories(), System.out::println).run();
        System.out.println("sim: replay the whole with ./rowan sim --seed "
                + failing.plan().seed());
    }

    private int replay(long seed) {
        final SimReport[] report = new SimReport[1];
        SimThread.installPoints();
        SimOnThread.run(() -> {
            System.out.println("sim: " + SimPlan.of(seed));
            report[0] = new Simulation(SimPlan.of(seed), new SimMemories(), System.out::println).run();
        });
        report[0].eventCounters().print(System.out);
        if (printsCoverage) {
            report[0].coverage().print(System.out);
        }
        System.out.println("sim: trace " + Long.toHexString(report[0].hash()));
        final String violation = report[0].violation();
        System.out.println("sim: seeds=1 violations=" + (violation == null ? 0 : 1));
        return violation == null ? 0 : 1;
    }
}
