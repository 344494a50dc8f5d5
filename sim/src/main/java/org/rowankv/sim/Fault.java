package org.rowankv.sim;

/** A kind of thing that goes wrong. Without state of its own: what it leaves behind belongs to the simulation. */
interface Fault {
    /**
     * Happens now, between two steps. May leave by the error of a crash.
     *
     * @param a drawn from 0 to 999 when the plan was made: what it means is the kind's own business
     * @param b as well
     */
    void strike(Simulation simulation, int a, int b);
}
