package org.rowankv.sim.embedded;

/**
 * A fault that cuts a link between two nodes for a while, in one direction: requests do not arrive, or replies do not.
 * Or a server can neither finish nor begin an append at another, which continues to write to it.
 */
final class CutLinkFault implements Fault {
    @Override
    public void strike(Simulation simulation, int a, int b) {
        final SimLinks links = simulation.store().links();
        final int nodes = simulation.plan().servers() + 1;
        final int from = a % nodes;
        final int to = a / nodes % nodes;
        if (from == to) {
            return;
        }
        simulation.eventCounters().count("links cut in one direction");
        links.cut(from, to, simulation.plan().stepNs() * (100 + 4L * b));
        final SimFabric fabric = simulation.store().fabric();
        if (from != links.clients() && to != links.clients() && fabric != null) {
            fabric.fence(simulation.store().cluster().servers().get(to), from);
        }
    }
}
