package org.rowankv.sim;

/** A server's area is kept at the end of some process, and is put back before some later start. */
final class OldAreaFault implements Fault {
    @Override
    public void strike(Simulation simulation, int a, int b) {
        if (!simulation.victim().isLone() && simulation.victim().isChosen(a)) {
            simulation.victim().putBackLater();
            simulation.endSoon(b);
        }
    }
}
