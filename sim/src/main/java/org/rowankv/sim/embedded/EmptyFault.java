package org.rowankv.sim.embedded;

/**
 * A fault that ends the store, by a close or a crash, and empties some servers before the next start: as many as leave
 * a complete replica of every shard.
 */
final class EmptyFault implements Fault {
    @Override
    public void strike(Simulation simulation, int a, int b) {
        final int servers = simulation.plan().servers();
        simulation.store().emptyAtNextStart(a % servers);
        if (b % 3 == 0) {
            simulation.store().emptyAtNextStart((a + 1) % servers);
        }
        if (a / servers % 2 == 0) {
            simulation.reopen();
        } else {
            simulation.points().crashIn(b);
        }
    }
}
