package org.rowankv.sim.embedded;

/** A fault that ends the process at some named point soon, and perhaps again while it starts, several times. */
final class CrashFault implements Fault {
    private static final int MOST_AGAIN = 3;

    @Override
    public void strike(Simulation simulation, int a, int b) {
        simulation.points().crashIn(a);
        simulation.points().crashStarts(b % 2 == 0 ? 0 : 1 + b / 2 % MOST_AGAIN);
    }
}
