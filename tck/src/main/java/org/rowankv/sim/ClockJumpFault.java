package org.rowankv.sim;

/** Somebody sets a server's clock: it jumps an hour forward or back. Intervals are measured by another one. */
final class ClockJumpFault implements Fault {
    private static final long HOUR_MS = 3_600_000;

    @Override
    public void strike(Simulation simulation, int a, int b) {
        final boolean forward = (b & 1) == 0;
        simulation.happenings().count(forward ? "clocks that jumped ahead" : "clocks that jumped back");
        simulation.store().clock(a % simulation.plan().servers()).jump(forward ? HOUR_MS : -HOUR_MS);
        simulation.workload().lifetimes().jumped(simulation.timeline().nowNs(), forward ? HOUR_MS : -HOUR_MS);
    }
}
