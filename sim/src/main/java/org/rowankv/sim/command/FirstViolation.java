package org.rowankv.sim.command;

import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import org.rowankv.sim.SeedReport;
import org.rowankv.sim.Seeds;
import org.rowankv.sim.SimOnThread;
import org.rowankv.sim.SimThread;

/**
 * The first seed with a violation.
 *
 * @param seeds number of seeds run, including this one
 * @param violation the first line of the violation
 */
public record FirstViolation(int seeds, String violation) {
    /**
     * Runs seeds of a form; null if none has a violation.
     *
     * @param begins receives each seed before it runs
     */
    public static @Nullable FirstViolation of(Form form, long firstSeed, int most, LongConsumer begins) {
        final FirstViolation[] found = new FirstViolation[1];
        SimThread.installPoints();
        SimOnThread.run(() -> {
            final Seeds seeds = form.open();
            for (int i = 0; i < most && found[0] == null; i++) {
                begins.accept(firstSeed + i);
                found[0] = in(i + 1, seeds.run(firstSeed + i, null));
            }
        });
        return found[0];
    }

    private static @Nullable FirstViolation in(int seeds, SeedReport report) {
        final String violation = report.violation();
        return violation == null
                ? null
                : new FirstViolation(seeds, violation.lines().findFirst().orElse(""));
    }
}
