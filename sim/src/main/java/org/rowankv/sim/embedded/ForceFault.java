package org.rowankv.sim.embedded;

import org.rowankv.sim.device.Device;

/** A fault that makes a force of one server's device throw: while the store is in use, or while it starts. */
final class ForceFault implements Fault {
    private static final int MOST_FORCES = 40;
    /** Of a start. */
    private static final int MOST_WRITES = 12;

    @Override
    public void strike(Simulation simulation, int a, int b) {
        if (!simulation.plan().power()) {
            return;
        }
        final int server = a % simulation.plan().servers();
        if (b % 4 == 0) {
            simulation.store().failAtNextStart(server, b / 4 % MOST_WRITES);
            simulation.endSoon(a);
        } else {
            final Device device = simulation.memories().of(server).device();
            device.failIn(b % MOST_FORCES, false, simulation.store().deviceRandom(server));
        }
    }
}
