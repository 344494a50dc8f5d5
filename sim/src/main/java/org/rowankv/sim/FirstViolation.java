package org.rowankv.sim;

import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The first seed that finds something.
 *
 * @param seeds how many it took, this one included
 * @param violation the first line of what it found
 */
public record FirstViolation(int seeds, String violation) {
    /**
     * Of whole stores; null if none of the seeds finds anything.
     *
     * @param begins takes each seed before it is run
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

    /** What a report says; null if it says nothing. */
    public static @Nullable FirstViolation in(int seeds, SeedReport<?> report) {
        final String violation = report.violation();
        return violation == null
                ? null
                : new FirstViolation(seeds, violation.lines().findFirst().orElse(""));
    }
}
