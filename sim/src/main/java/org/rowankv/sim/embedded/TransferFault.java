package org.rowankv.sim.embedded;

/** A fault in which primaries move to other servers, while all operations go on. */
final class TransferFault implements Fault {
    private static final int ALL_ONE_IN = 3;

    @Override
    public void strike(Simulation simulation, int a, int b) {
        if (b % ALL_ONE_IN == 0) {
            simulation.store().transferAllOf(a % simulation.plan().servers());
        } else {
            simulation.store().transfer(a % simulation.plan().shards(), b);
        }
    }
}
