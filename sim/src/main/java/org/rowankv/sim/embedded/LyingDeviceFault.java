package org.rowankv.sim.embedded;

/** A fault in which a server's device reports forces that it has not done; a power cut reveals them. */
final class LyingDeviceFault implements Fault {
    @Override
    public void strike(Simulation simulation, int a, int b) {
        if (simulation.plan().power() && simulation.victim().isChosen(a)) {
            simulation.victim().lie();
            simulation.points().crashIn(b * 4);
        }
    }
}
