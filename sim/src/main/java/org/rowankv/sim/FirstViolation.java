package org.rowankv.sim;

import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The first seed with a violation.
 *
 * @param seeds number of seeds run, including this one
 * @param violation the first line of the violation
 */
public record FirstViolation(int seeds, String violation) {
    /**
     * Runs seeds of whole stores; null if none has a violation.
     *
     * @param begins receives each seed before it runs
     */
    public static @Nullable FirstViolation of(long firstSeed, int most, LongConsumer begins) {
        final FirstViolation[] found = new FirstViolation[1];
        SimThread.installPoints();
        SimOnThread.run(() -> {
            final SimMemories memories = new SimMemories();
            for (int i = 0; i < most && found[0] == null; i++) {
                begins.accept(firstSeed + i);
                found[0] = in(i + 1, new Simulation(SimPlan.of(firstSeed + i), memories, null).run());
            }
        });
        return found[0];
    }

    /** Extracts the violation of a report; null if there is none. */
    public static @Nullable FirstViolation in(int seeds, SeedReport<?> report) {
        final String violation = report.violation();
        return violation == null
                ? null
                : new FirstViolation(seeds, violation.lines().findFirst().orElse(""));
    }
}
