package org.rowankv.sim;

/** The store is closed, and opened again. */
final class ReopenFault implements Fault {
    @Override
    public void strike(Simulation simulation, int a, int b) {
        simulation.reopen();
    }
}
