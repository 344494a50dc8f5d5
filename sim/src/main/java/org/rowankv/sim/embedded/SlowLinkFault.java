package org.rowankv.sim.embedded;

/**
 * A fault that slows the link from one node to another for a while: requests and replies are late, appends stop at each
 * of their steps.
 */
final class SlowLinkFault implements Fault {
    @Override
    public void strike(Simulation simulation, int a, int b) {
        final int nodes = simulation.plan().servers() + 1;
        simulation.eventCounters().count("links slowed down");
        simulation
                .store()
                .links()
                .slow(a % nodes, a / nodes % nodes, simulation.plan().stepNs() * (100 + 20L * b));
    }
}
