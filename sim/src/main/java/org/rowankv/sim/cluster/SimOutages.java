package org.rowankv.sim.cluster;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.rowankv.check.chaos.OutageTable;
import org.rowankv.sim.SeedReport;
import org.rowankv.sim.SimOnThread;

/** Outages of many simulated clusters, each hit once by one fault, as a table. */
public final class SimOutages {
    private static final double NS_PER_MS = 1e6;
    private static final int MEDIAN = 50;
    private static final int TAIL = 99;

    private final int servers;
    private final int leaseMs;
    private final MemoryPool pool = new MemoryPool();
    private final PrintStream out;
    private int violations;

    /** @param servers 2 or 3 */
    public SimOutages(int servers, int leaseMs, PrintStream out) {
        this.servers = servers;
        this.leaseMs = leaseMs;
        this.out = out;
    }

    /**
     * Prints a line for each fault.
     *
     * @param rounds clusters for each fault
     * @param firstSeed of the first of them
     * @return the number of violations, which are printed
     */
    public int print(int rounds, long firstSeed) {
        out.printf(
                Locale.ROOT,
                "sim: outages in simulated ms: servers=%d replicas=2 lease_ms=%d step_us=%.1f latency_us=%.1f store_ms=%.1f%n",
                servers,
                leaseMs,
                ClusterPlan.STEP_NS / 1e3,
                ClusterPlan.LATENCY_NS / 1e3,
                ClusterPlan.STORE_NS / NS_PER_MS);
        out.printf("%-14s %5s  %-20s  %-20s  %s%n", "", "", " primary was hit", "  backup was hit", "     unaffected");
        final String three = String.format("%6s %6s %6s", "p50", "p99", "max");
        out.printf("%-14s %5s  %s  %s  %s%n", "fault", "count", three, three, three);
        long seed = firstSeed;
        for (SimOutage.Fault fault : SimOutage.Fault.values()) {
            final List<SimOutage> measured = new ArrayList<>();
            for (int round = 0; round < rounds; round++) {
                final SimOutage one = measure(fault, seed++);
                if (one != null) {
                    measured.add(one);
                }
            }
            out.printf(
                    "%-14s %5d  %s  %s  %s%n",
                    fault.name().toLowerCase(Locale.ROOT).replace('_', '-'),
                    measured.size(),
                    three(measured, SimOutage.Role.PRIMARY),
                    three(measured, SimOutage.Role.BACKUP),
                    three(measured, SimOutage.Role.NOTHING));
        }
        out.println("sim: outages=" + rounds * SimOutage.Fault.values().length + " violations=" + violations);
        return violations;
    }

    private @Nullable SimOutage measure(SimOutage.Fault fault, long seed) {
        final SimOutage one = new SimOutage(fault, (int) (seed % (servers - 1)));
        final SeedReport[] report = new SeedReport[1];
        pool.begin();
        SimOnThread.run(() -> report[0] =
                new ClusterSimulation(ClusterPlan.ofOutages(seed, servers, leaseMs), pool, null, one).run());
        final String violation = report[0].violation();
        if (violation != null) {
            violations++;
            out.println("sim: " + fault + ", seed " + seed + ": " + violation);
        }
        return violation == null ? one : null;
    }

    private static String three(List<SimOutage> measured, SimOutage.Role role) {
        final List<Long> gaps = new ArrayList<>();
        for (SimOutage one : measured) {
            for (int shard = 0; shard < one.roles().size(); shard++) {
                if (one.roles().get(shard) == role) {
                    gaps.add(one.gapNs(shard));
                }
            }
        }
        return gaps.isEmpty()
                ? String.format("%6s %6s %6s", "-", "-", "-")
                : String.format(
                        Locale.ROOT,
                        "%6.1f %6.1f %6.1f",
                        OutageTable.percentile(gaps, MEDIAN) / NS_PER_MS,
                        OutageTable.percentile(gaps, TAIL) / NS_PER_MS,
                        OutageTable.percentile(gaps, 100) / NS_PER_MS);
    }
}
