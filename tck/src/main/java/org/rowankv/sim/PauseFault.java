package org.rowankv.sim;

import java.util.List;

/** A server's agents get no turn for a while. */
final class PauseFault implements Fault {
    @Override
    public void strike(Simulation simulation, int a, int b) {
        final List<SimScheduling.AgentTask> agents =
                simulation.store().scheduling().agents();
        simulation.happenings().count("agents paused");
        agents.get(a % agents.size()).pause(simulation.plan().stepNs() * 20 * b);
    }
}
