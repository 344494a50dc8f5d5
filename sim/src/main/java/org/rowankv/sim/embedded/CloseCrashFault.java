package org.rowankv.sim.embedded;

/** A fault that ends the process while the store is closed: at a point, or in the middle of the last force. */
final class CloseCrashFault implements Fault {
    private static final int MOST_POINTS = 200;

    @Override
    public void strike(Simulation simulation, int a, int b) {
        if (simulation.plan().power() && b % 3 == 0) {
            simulation.memories().of(a % simulation.plan().servers()).device().endPowerAtClose(b / 3 % 2);
        } else {
            simulation.points().crashCloseIn(b % 3 == 1 ? a % 20 : a % MOST_POINTS);
        }
        simulation.reopen();
    }
}
