package org.rowankv.sim.embedded;

/** A fault that saves a server's area at the end of some process, and restores it before some later start. */
final class OldAreaFault implements Fault {
    @Override
    public void strike(Simulation simulation, int a, int b) {
        if (!simulation.victim().isLone() && simulation.victim().isChosen(a)) {
            simulation.victim().putBackLater();
            simulation.endSoon(b);
        }
    }
}
