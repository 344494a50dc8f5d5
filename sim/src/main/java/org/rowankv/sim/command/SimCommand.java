package org.rowankv.sim.command;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.LongFunction;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.SecureSeed;
import org.rowankv.runtime.SystemClock;
import org.rowankv.sim.EventCounters;
import org.rowankv.sim.RareFirst;
import org.rowankv.sim.SeedReport;
import org.rowankv.sim.Seeds;
import org.rowankv.sim.SimOnThread;
import org.rowankv.sim.SimThread;
import org.rowankv.sim.cluster.SimOutages;
import org.rowankv.sim.workload.Coverage;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code rowan sim}: runs the servers' own code in an order drawn from a seed, under all kinds of faults. */
@Command(
        name = "sim",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Runs whole stores with their clients in an order drawn from a seed, as is the form of each: embedded, with"
                    + " crashes at named points, callers that stall or die during an append, fences, lost and doubled"
                    + " messages; or a cluster of processes, each with the production code of its start, its roles and"
                    + " its fabric, that are killed, paused, cut off and restarted. Every reply is checked for"
                    + " linearizability, replicas are compared, space is counted, and no two servers may serve one shard.",
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

    @Option(names = "--embedded", description = "only embedded stores")
    private boolean embedded;

    @Option(names = "--cluster", description = "only clusters")
    private boolean cluster;

    @Option(
            names = "--fabric",
            paramLabel = "FABRIC",
            description =
                    "only clusters whose servers are connected by tcp (default of --cluster), or by landed or leased,"
                            + " which are rdma on simulated devices")
    private @Nullable String fabric;

    @Option(names = "--threads", description = "seeds run in parallel (default: one per processor)")
    private @Nullable Integer threads;

    @Option(names = "--found", description = "run only the seeds kept in the sources, which once had violations")
    private boolean found;

    @Option(names = "--check-determinism", description = "run every seed twice: both runs must be equal")
    private boolean twice;

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
            throw refused("--seeds must be at least 1, not " + seeds);
        }
        final Form only = onlyForm();
        if (outages != null) {
            if (only != null && only != Form.CLUSTER) {
                throw refused("--outages are those of clusters over TCP: leave --embedded and --fabric out");
            }
            return measureOutages(outages);
        }
        if (found) {
            return runKept(only);
        }
        final LongFunction<Form> forms = only == null ? Form::drawn : unused -> only;
        return seed != null ? replay(forms.apply(seed), seed) : many(forms);
    }

    private CommandLine.ParameterException refused(String why) {
        return new CommandLine.ParameterException(new CommandLine(this), why);
    }

    /** The form that is asked for; null if each seed draws its own. */
    private @Nullable Form onlyForm() {
        if (embedded && (cluster || fabric != null)) {
            throw refused("--embedded stores have no --fabric, and are no --cluster");
        }
        if (fabric == null) {
            return embedded ? Form.EMBEDDED : cluster ? Form.CLUSTER : null;
        }
        return switch (fabric) {
            case "tcp" -> Form.CLUSTER;
            case "landed" -> Form.LANDED;
            case "leased" -> Form.LEASED;
            default -> throw refused("--fabric is tcp, landed or leased, not '" + fabric + "'");
        };
    }

    private int measureOutages(int rounds) {
        if (rounds < 1 || servers < 2 || servers > 3 || leaseMs < 10 || leaseMs > 60_000) {
            throw refused("--outages needs at least 1, --servers 2 or 3, and --lease 10..60000");
        }
        SimThread.installPoints();
        final int violations = new SimOutages(servers, leaseMs, System.out).print(rounds, from == null ? 1 : from);
        return violations == 0 ? 0 : 1;
    }

    private int runKept(@Nullable Form only) {
        int done = 0;
        int violations = 0;
        for (Map.Entry<Form, List<Long>> kept : FoundSeeds.kept().entrySet()) {
            final Form form = kept.getKey();
            for (long each : only == null || only == form ? kept.getValue() : List.<Long>of()) {
                final SimRun run =
                        new SimRun(unused -> form, () -> each, 1, 1, twice, SystemClock.INSTANCE, System.out);
                violations += print(run.run(), unused -> form);
                done++;
            }
        }
        System.out.println("sim: seeds=" + done + " violations=" + violations);
        return violations == 0 ? 0 : 1;
    }

    private int many(LongFunction<Form> forms) {
        // Small seeds are easier to pass on.
        final long first = from == null ? SecureSeed.next() >>> 32 : from;
        System.out.println("sim: seeds " + first + (from == null ? " and on, rare plans first" : " and on"));
        final LongSupplier order =
                from == null ? new RareFirst(first, new FormedSeeds(forms)::traits) : RareFirst.oneByOne(first);
        final int inParallel = threads == null ? Runtime.getRuntime().availableProcessors() : Math.max(1, threads);
        final SimRun run = new SimRun(forms, order, seeds, inParallel, twice, SystemClock.INSTANCE, System.out);
        final List<SeedReport> violations = run.run();
        run.eventCounters().print(System.out);
        printCoverage(run.coverage());
        print(violations, forms);
        if (!violations.isEmpty()) {
            final SeedReport failing = violations.get(0);
            SimOnThread.run(() -> forms.apply(failing.seed()).open().shrink(failing, System.out));
        }
        final List<String> missing = new ArrayList<>();
        for (Form form : Form.values()) {
            final int done = run.done(form);
            if (done > 0) {
                System.out.println("sim: " + form.options() + " seeds=" + done + met(form, run.eventCounters(form)));
                form.open()
                        .missing(run.eventCounters(form), done)
                        .forEach(what -> missing.add(form.options() + ": " + what));
            }
        }
        missing.forEach(what -> System.out.println("sim: this never happened with " + what));
        System.out.println("sim: seeds=" + run.done() + " violations=" + violations.size());
        return violations.isEmpty() && missing.isEmpty() ? 0 : 1;
    }

    /** What a form's servers met: those of an embedded store are not killed, and only leased segments are fenced. */
    private static String met(Form form, EventCounters counters) {
        return (form == Form.EMBEDDED ? "" : " kills=" + counters.of("servers killed"))
                + (form == Form.LEASED ? " fences=" + counters.of("point leased.fenced") : "");
    }

    /** Prints violations; returns how many there are. */
    private static int print(List<SeedReport> violations, LongFunction<Form> forms) {
        for (SeedReport report : violations) {
            System.out.println("sim: seed " + report.seed() + ": " + report.violation());
            System.out.println(
                    "sim: replay it with " + forms.apply(report.seed()).command(report.seed()));
        }
        return violations.size();
    }

    private void printCoverage(Coverage coverage) {
        if (printsCoverage) {
            coverage.print(System.out);
        }
    }

    private int replay(Form form, long ofSeed) {
        final SeedReport[] report = new SeedReport[1];
        SimThread.installPoints();
        SimOnThread.run(() -> {
            final Seeds replayed = form.open();
            System.out.println("sim: " + form.command(ofSeed) + ": " + replayed.plan(ofSeed));
            report[0] = replayed.run(ofSeed, System.out::println);
        });
        report[0].eventCounters().print(System.out);
        printCoverage(report[0].coverage());
        System.out.println("sim: trace " + Long.toHexString(report[0].hash()));
        final String violation = report[0].violation();
        if (violation != null) {
            System.out.println("sim: " + violation);
        }
        System.out.println("sim: seeds=1 violations=" + (violation == null ? 0 : 1));
        return violation == null ? 0 : 1;
    }
}
