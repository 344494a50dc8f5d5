package org.rowankv.sim.embedded;

import org.rowankv.sim.NodeClock;
/**
 * A fault that sets a server's wall clock forward or back by an hour, by days, or by years. Intervals use another
 * clock.
 */
final class ClockJumpFault implements Fault {
    private static final long HOUR_MS = 3_600_000;
    private static final long DAY_MS = 24 * HOUR_MS;
    private static final long YEAR_MS = 365 * DAY_MS;

    @Override
    public void strike(Simulation simulation, int a, int b) {
        final boolean forward = (b & 1) == 0;
        final long ms = jumpMs(a, b >> 1);
        simulation.eventCounters().count(forward ? "clocks that jumped ahead" : "clocks that jumped back");
        if (ms >= YEAR_MS) {
            simulation
                    .eventCounters()
                    .count(forward ? "clocks that jumped years ahead" : "clocks that jumped years back");
        }
        final NodeClock clock = simulation.store().clock(a % simulation.plan().servers());
        clock.jump(forward ? ms : -ms, simulation.workload().lifetimes());
    }

    private static long jumpMs(int a, int drawn) {
        return switch (drawn % 3) {
            case 0 -> HOUR_MS;
            case 1 -> (1 + a % 60) * DAY_MS;
            default -> (1 + a % 20) * YEAR_MS;
        };
    }
}
