package org.rowankv.sim.embedded;

/** A fault in which a server fences another one from its backup log. */
final class FenceFault implements Fault {
    @Override
    public void strike(Simulation simulation, int a, int b) {
        final SimFabric fabric = simulation.store().fabric();
        final int to = a % simulation.plan().servers();
        final int from = b % simulation.plan().servers();
        if (to != from && fabric != null) {
            simulation.eventCounters().count("fences");
            fabric.fence(simulation.store().cluster().servers().get(to), from);
        }
    }
}
