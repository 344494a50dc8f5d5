package org.rowankv.sim.embedded;

/** A kind of fault that the simulator injects. Stateless: its effects belong to the simulation. */
interface Fault {
    /**
     * Injects the fault now, between two steps. May throw the error of a crash.
     *
     * @param a drawn from 0 to 999 when the plan was made; the kind defines its meaning
     * @param b likewise
     */
    void strike(Simulation simulation, int a, int b);
}
