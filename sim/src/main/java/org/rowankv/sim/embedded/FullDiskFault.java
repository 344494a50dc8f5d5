package org.rowankv.sim.embedded;

/**
 * A fault that leaves no disk space for a server's checkpoints for a while: writes stop halfway, and old checkpoints
 * cannot be deleted.
 */
final class FullDiskFault implements Fault {
    private static final int MOST_CHANGES = 30;
    private static final int MOST_REFUSALS = 12;

    @Override
    public void strike(Simulation simulation, int a, int b) {
        simulation
                .memories()
                .checkpointsOf(a % simulation.plan().servers())
                .fill(b % MOST_CHANGES, 1 + a % MOST_REFUSALS);
        simulation.eventCounters().count("disks that were full");
    }
}
