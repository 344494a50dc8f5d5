package org.rowankv.sim;

/** There is no room for a server's checkpoints for a while: they are cut off half written, and old ones cannot be removed. */
final class FullDiskFault implements Fault {
    private static final int MOST_CHANGES = 30;
    private static final int MOST_REFUSALS = 12;

    @Override
    public void strike(Simulation simulation, int a, int b) {
        simulation
                .memories()
                .checkpointsOf(a % simulation.plan().servers())
                .fill(b % MOST_CHANGES, 1 + a % MOST_REFUSALS);
        simulation.happenings().count("disks that were full");
    }
}
