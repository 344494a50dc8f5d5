package org.rowankv.sim.embedded;

/** A fault that pauses one server for a while, its agents and the requests it executes; other servers run. */
final class PauseFault implements Fault {
    @Override
    public void strike(Simulation simulation, int a, int b) {
        simulation.eventCounters().count("servers paused");
        simulation
                .store()
                .scheduling()
                .servers()
                .get(a % simulation.plan().servers())
                .pause(simulation.plan().stepNs() * 20 * b);
    }
}
