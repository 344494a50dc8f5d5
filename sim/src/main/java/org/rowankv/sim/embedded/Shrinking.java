package org.rowankv.sim.embedded;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rowankv.sim.PlannedFault;
import org.rowankv.sim.SeedReport;
import org.rowankv.sim.SimPlan;
import org.rowankv.sim.SimThread;

/**
 * Reduction of a failing plan that keeps the kind of failure: a smaller plan is easier to analyse. On a {@link
 * SimThread}.
 */
final class Shrinking {
    private static final int MOST_RUNS = 80;

    private final SimMemories memories;
    private final String kind;
    private EmbeddedPlan smallest;
    /** Operations that the smallest plan had begun when it failed. */
    private int begun;

    private int runs;

    Shrinking(EmbeddedPlan plan, SeedReport failing, SimMemories memories) {
        this.memories = memories;
        this.smallest = plan;
        this.begun = failing.begun();
        this.kind = kindOf(failing.violation());
    }

    /**
     * The kind of a violation, equal for violations that most likely have the same cause: its first words, up to a
     * name. Numbers and names of clients, keys and servers differ from plan to plan.
     */
    static String kindOf(@Nullable String violation) {
        if (violation == null) {
            return "";
        }
        final String line = violation.lines().findFirst().orElse("");
        final String withoutLists = line.replaceAll("[\\[{].*", "");
        return withoutLists.replaceAll("[^ ]*[0-9][^ ]*", "#").replaceAll("'[^']*'", "#");
    }

    EmbeddedPlan shrink() {
        boolean smaller = true;
        while (smaller && runs < MOST_RUNS) {
            smaller = operations();
            smaller |= quieter();
            smaller |= faults();
            smaller |= clients();
        }
        return smallest;
    }

    private boolean fails(EmbeddedPlan plan) {
        if (runs++ >= MOST_RUNS) {
            return false;
        }
        final SeedReport report = new EmbeddedSimulation(plan, memories, null).run();
        if (report.violation() != null && kindOf(report.violation()).equals(kind)) {
            smallest = plan;
            begun = report.begun();
            return true;
        }
        return false;
    }

    private boolean operations() {
        boolean smaller = false;
        // The operations begun before the failure suffice, as long as the end of the run finds it too.
        if (begun < smallest.shared().operations()) {
            smaller = fails(smallest.with(shared -> shared.withOperations(Math.max(1, begun))));
        }
        for (int part = 2; part <= 16; part *= 2) {
            final int now = smallest.shared().operations();
            final int fewer = Math.max(1, now - now / part);
            smaller |= fails(smallest.with(shared -> shared.withOperations(fewer)));
        }
        return smaller;
    }

    private boolean quieter() {
        boolean smaller = false;
        final SimPlan plan = smallest.shared();
        smaller |= plan.lossPerMille() > 0 && fails(smallest.with(SimPlan::withoutLoss));
        smaller |= plan.stallPerMyriad() > 0 && fails(smallest.with(SimPlan::withoutStalls));
        smaller |= plan.deathPerMyriad() > 0 && fails(smallest.with(SimPlan::withoutDeaths));
        smaller |= plan.yieldPerMyriad() > 0 && fails(smallest.with(SimPlan::withoutYields));
        smaller |= smallest.ttlPerMille() > 0 && fails(smallest.withoutExpiry());
        return smaller;
    }

    private boolean faults() {
        boolean smaller = false;
        for (int i = smallest.shared().faults().size() - 1; i >= 0; i--) {
            final List<PlannedFault> fewer = new ArrayList<>(smallest.shared().faults());
            fewer.remove(i);
            smaller |= fails(smallest.with(shared -> shared.withFaults(fewer)));
        }
        return smaller;
    }

    private boolean clients() {
        boolean smaller = false;
        while (smallest.shared().clients() > 1
                && fails(smallest.with(shared -> shared.withClients(shared.clients() - 1)))) {
            smaller = true;
        }
        return smaller;
    }
}
