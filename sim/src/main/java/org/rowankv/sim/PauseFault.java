package org.rowankv.sim;

/** Nothing goes on at one server for a while, neither its agents nor the requests that it carries; others go on. */
final class PauseFault implements Fault {
    @Override
    public void strike(Simulation simulation, int a, int b) {
        simulation.happenings().count("servers paused");
        simulation
                .store()
                .scheduling()
                .servers()
                .get(a % simulation.plan().servers())
                .pause(simulation.plan().stepNs() * 20 * b);
    }
}
