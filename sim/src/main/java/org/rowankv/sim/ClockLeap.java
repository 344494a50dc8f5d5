package org.rowankv.sim;

/**
 * A fault that sets a server's wall clock forward or back by hours, by days, or by years. Intervals use another
 * clock.
 */
public final class ClockLeap {
    private static final long HOUR_MS = 3_600_000;
    private static final long DAY_MS = 24 * HOUR_MS;
    private static final long YEAR_MS = 365 * DAY_MS;

    private ClockLeap() {}

    /**
     * Sets it.
     *
     * @param a drawn, from 0 to 999
     * @param b likewise
     */
    public static void strike(SeedRun run, NodeClock clock, int a, int b) {
        final boolean forward = (b & 1) == 0;
        final long ms = switch ((b >> 1) % 3) {
            case 0 -> HOUR_MS << a % 8;
            case 1 -> (1 + a % 60) * DAY_MS;
            default -> (1 + a % 20) * YEAR_MS;
        };
        run.eventCounters().count(forward ? "clocks that leapt ahead" : "clocks that leapt back");
        if (ms >= YEAR_MS) {
            run.eventCounters().count(forward ? "clocks that leapt years ahead" : "clocks that leapt years back");
        }
        clock.jump(forward ? ms : -ms, run.workload().lifetimes());
    }
}
