package org.rowankv.sim.cluster;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.LongFunction;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.SecureSeed;
import org.rowankv.runtime.SystemClock;
import org.rowankv.server.membership.FabricKind;
import org.rowankv.sim.FoundSeeds;
import org.rowankv.sim.RareFirst;
import org.rowankv.sim.SimOnThread;
import org.rowankv.sim.SimRun;
import org.rowankv.sim.SimThread;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code rowan sim --cluster}: runs servers as separate simulated processes, in an order drawn from a seed. */
@Command(
        name = "sim --cluster",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Runs whole clusters, each server a process with the production code of its start, its roles and its fabric,"
                    + " in an order drawn from a seed: processes that are killed, paused and restarted at any point,"
                    + " power cuts, connections that break in the middle of a byte stream, one-way links, a configuration"
                    + " store that is unavailable or loses replies, planned transfers under load. Every reply is checked for"
                    + " linearizability, replicas are compared, and no two servers may serve one shard.",
            "The last line is \"sim: seeds=N violations=0\"; any other result exits non-zero."
        })
public final class ClusterSimCommand implements Callable<Integer> {
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

    @Option(
            names = "--fabric",
            paramLabel = "FABRIC",
            converter = OfFabric.class,
            description =
                    "between the servers: tcp (default), or landed or leased, which are rdma on simulated devices")
    private FabricKind fabric = FabricKind.TCP;

    @Option(names = "--coverage", description = "print how often each kind of operation met each state of its key")
    private boolean printsCoverage;

    @Option(
            names = "--outages",
            paramLabel = "N",
            description =
                    "instead: N faults of each kind in calm clusters, and for how long shards complete no operation, in"
                            + " simulated time with the printed mean costs of a step, a message and a change in ZooKeeper")
    private @Nullable Integer outages;

    @Option(names = "--lease", description = "lease of the servers for --outages, in ms (${DEFAULT-VALUE})")
    private int leaseMs = 25;

    @Option(names = "--servers", description = "2 or 3, for --outages (${DEFAULT-VALUE})")
    private int servers = 3;

    private static final class OfFabric implements CommandLine.ITypeConverter<FabricKind> {
        @Override
        public FabricKind convert(String value) {
            return switch (value) {
                case "tcp" -> FabricKind.TCP;
                case "landed" -> FabricKind.RDMA_LANDED;
                case "leased" -> FabricKind.RDMA_LEASED;
                default ->
                    throw new CommandLine.TypeConversionException("it is tcp, landed or leased, not '" + value + "'");
            };
        }
    }

    public static void main(String[] args) {
        // Must precede loading of any class of the store: without this the JIT drops its chaos points.
        System.setProperty("rowan.chaos", "true");
        // The simulation checks what agents report; log lines of every start and refused connection are noise here.
        System.setProperty("rowan.log.level", "off");
        ClassLoader.getSystemClassLoader().setDefaultAssertionStatus(true);
        System.exit(new CommandLine(new ClusterSimCommand()).execute(args));
    }

    @Override
    public Integer call() {
        if (seeds < 1) {
            throw new CommandLine.ParameterException(new CommandLine(this), "--seeds must be at least 1, not " + seeds);
        }
        if (found) {
            return FoundSeeds.runKept(FoundSeeds.SIM_CLUSTER, runner(), SystemClock.INSTANCE, System.out) == 0 ? 0 : 1;
        }
        if (outages != null && fabric != FabricKind.TCP) {
            throw new CommandLine.ParameterException(
                    new CommandLine(this), "--outages are those over TCP: leave --fabric out");
        }
        if (outages != null) {
            return measureOutages(outages);
        }
        return seed != null ? replay(seed) : many();
    }

    private int measureOutages(int rounds) {
        if (rounds < 1 || servers < 2 || servers > 3 || leaseMs < 10 || leaseMs > 60_000) {
            throw new CommandLine.ParameterException(
                    new CommandLine(this), "--outages needs at least 1, --servers 2 or 3, and --lease 10..60000");
        }
        SimThread.installPoints();
        final int violations = new SimOutages(servers, leaseMs, System.out).print(rounds, from == null ? 1 : from);
        System.out.println("sim: outages=" + rounds * SimOutage.Fault.values().length + " violations=" + violations);
        return violations == 0 ? 0 : 1;
    }

    private int threadCount() {
        return threads == null ? Runtime.getRuntime().availableProcessors() : Math.max(1, threads);
    }

    private int many() {
        // Small seeds are easier to pass on.
        final long first = from == null ? SecureSeed.next() >>> 32 : from;
        System.out.println("sim: cluster seeds " + first + (from == null ? " and on, rare plans first" : " and on"));
        final LongSupplier order =
                from == null ? new RareFirst(first, each -> plan(each).traits()) : RareFirst.oneByOne(first);
        final SimRun<ClusterReport> run =
                new SimRun<>(this::runner, order, seeds, threadCount(), twice, SystemClock.INSTANCE, System.out);
        final List<ClusterReport> violations = run.run();
        run.eventCounters().print(System.out);
        if (printsCoverage) {
            run.coverage().print(System.out);
        }
        for (ClusterReport report : violations) {
            System.out.println("sim: seed " + report.plan().seed() + ": " + report.violation());
            System.out.println("sim: replay it with " + report.command());
        }
        final List<String> missing = run.done() >= ClusterExpected.FULL_RUN
                ? ClusterExpected.missing(run.eventCounters(), fabric)
                : List.of();
        missing.forEach(what -> System.out.println("sim: this never happened: " + what));
        if (fabric == FabricKind.RDMA_LEASED) {
            System.out.println("sim: kills=" + run.eventCounters().of("servers killed") + " fences="
                    + run.eventCounters().of("point leased.fenced"));
        }
        System.out.println("sim: seeds=" + run.done() + " violations=" + violations.size());
        return violations.isEmpty() && missing.isEmpty() ? 0 : 1;
    }

    private ClusterPlan plan(long ofSeed) {
        return ClusterPlan.of(ofSeed, fabric);
    }

    private LongFunction<ClusterReport> runner() {
        final MemoryPool pool = new MemoryPool();
        return each -> ClusterSimulation.run(plan(each), pool);
    }

    private int replay(long seed) {
        final ClusterReport[] report = new ClusterReport[1];
        SimThread.installPoints();
        SimOnThread.run(() -> {
            System.out.println("sim: " + plan(seed));
            report[0] = new ClusterSimulation(plan(seed), new MemoryPool(), System.out::println).run();
        });
        report[0].eventCounters().print(System.out);
        if (printsCoverage) {
            report[0].coverage().print(System.out);
        }
        System.out.println("sim: trace " + Long.toHexString(report[0].hash()));
        final String violation = report[0].violation();
        if (violation != null) {
            System.out.println("sim: " + violation);
        }
        System.out.println("sim: seeds=1 violations=" + (violation == null ? 0 : 1));
        return violation == null ? 0 : 1;
    }
}
