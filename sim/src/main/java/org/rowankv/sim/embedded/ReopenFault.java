package org.rowankv.sim.embedded;

/** A fault that closes the store, and opens it again. */
final class ReopenFault implements Fault {
    @Override
    public void strike(Simulation simulation, int a, int b) {
        simulation.reopen();
    }
}
