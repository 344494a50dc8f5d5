package org.rowankv.sim;

/** The process ends at some named point soon, so many points later as the plan says. */
final class CrashFault implements Fault {
    @Override
    public void strike(Simulation simulation, int a, int b) {
        simulation.points().crashIn(a);
    }
}
