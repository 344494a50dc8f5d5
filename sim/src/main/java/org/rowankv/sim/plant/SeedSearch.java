package org.rowankv.sim.plant;

import java.util.function.LongConsumer;
import org.rowankv.sim.command.FirstViolation;
import org.rowankv.sim.command.Form;

/**
 * Main class of a JVM with a planted bug: runs seeds until one finds a violation. It prints each seed before it runs,
 * and the finding as its last line.
 */
final class SeedSearch {
    static final String FOUND = "found: ";
    static final String NOTHING = "found nothing";

    private SeedSearch() {}

    /** Arguments: the form, the first seed, the maximum number of seeds. */
    public static void main(String[] args) {
        final LongConsumer begins = seed -> System.out.println("seed " + seed);
        final long firstSeed = Long.parseLong(args[1]);
        final int most = Integer.parseInt(args[2]);
        final FirstViolation found = FirstViolation.of(Form.valueOf(args[0]), firstSeed, most, begins);
        System.out.println(found == null ? NOTHING : FOUND + found.seeds() + " " + found.violation());
        // Threads of an aborted simulation may be left.
        System.exit(0);
    }
}
