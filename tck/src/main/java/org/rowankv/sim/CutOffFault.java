package org.rowankv.sim;

/** A caller stops at the next named place of an append, and is cut off there. */
final class CutOffFault implements Fault {
    @Override
    public void strike(Simulation simulation, int a, int b) {
        if (simulation.plan().replicas() > 1) {
            simulation.points().cutOffNext();
        }
    }
}
