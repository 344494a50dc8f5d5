package org.rowankv.sim;

import java.util.concurrent.Callable;

/** The door to a Rowan-KV that was loaded with a planted bug: only types of the JDK go through it. */
public final class Mutant implements Callable<String> {
    private final long firstSeed;
    private final int most;

    public Mutant(long firstSeed, int most) {
        this.firstSeed = firstSeed;
        this.most = most;
    }

    /** How many seeds it took to find a violation, and the violation; empty if none was found. */
    @Override
    public String call() {
        final String[] found = {""};
        SimThread.installPoints();
        SimOnThread.run(() -> {
            final SimMemories memories = new SimMemories();
            for (int i = 0; i < most && found[0].isEmpty(); i++) {
                final String violation = new Simulation(SimPlan.of(firstSeed + i), memories, null)
                        .run()
                        .violation();
                if (violation != null) {
                    found[0] = i + 1 + " " + violation.lines().findFirst().orElse("");
                }
            }
        });
        return found[0];
    }
}
