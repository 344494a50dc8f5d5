package org.rowankv.sim.embedded;

import org.rowankv.sim.ClockLeap;
import org.rowankv.sim.PlannedFault;

/** Injects failures of devices, and leaps of clocks. */
final class StoreDeviceFaults {
    private static final int MOST_FORCES = 40;
    /** Of a start. */
    private static final int MOST_WRITES = 12;

    private static final int MOST_CHANGES = 30;
    private static final int MOST_REFUSALS = 12;
    private static final int MOST_POINTS_OF_A_CLOSE = 200;

    private final EmbeddedSimulation simulation;

    StoreDeviceFaults(EmbeddedSimulation simulation) {
        this.simulation = simulation;
    }

    void strike(PlannedFault fault) {
        final int a = fault.a();
        final int b = fault.b();
        final int server = a % simulation.plan().servers();
        switch (fault.kind()) {
            case CLOCK_LEAP ->
                ClockLeap.strike(
                        simulation,
                        simulation.store().clock(server),
                        a / simulation.plan().servers(),
                        b);
            case BIT_ROT -> rot(server, a, b);
            case FORCE_FAILS -> failForce(server, a, b);
            case DISK_FULL -> fillDisk(server, a, b);
            case DEVICE_LIES -> lie(a, b);
            case OLD_AREA -> putBack(a, b);
            case CRASH_IN_CLOSE -> crashInClose(server, a, b);
            default -> throw new AssertionError("embedded stores have no fault " + fault.kind());
        }
    }

    /** Areas are hit while the server runs or before its next start. */
    private void rot(int server, int a, int b) {
        if (b % 5 == 0) {
            if (simulation.memories().checkpointsOf(server).flip(a, b * 997, 1 << a % Byte.SIZE)) {
                simulation.eventCounters().count("bits that flipped in a checkpoint");
            }
            simulation.points().crashIn(a);
        } else if (simulation.victim().isChosen(a)) {
            final boolean now = b % 2 == 0;
            simulation.victim().rot(b / 2, now);
            if (!now) {
                simulation.endSoon(a);
            }
        }
    }

    /** While the store is in use, or while it starts. */
    private void failForce(int server, int a, int b) {
        if (!simulation.plan().power()) {
            return;
        }
        if (b % 4 == 0) {
            simulation.store().failAtNextStart(server, b / 4 % MOST_WRITES);
            simulation.endSoon(a);
        } else {
            simulation
                    .memories()
                    .of(server)
                    .device()
                    .failIn(b % MOST_FORCES, false, simulation.store().deviceRandom(server));
        }
    }

    private void fillDisk(int server, int a, int b) {
        simulation.memories().checkpointsOf(server).fill(b % MOST_CHANGES, 1 + a % MOST_REFUSALS);
        simulation.eventCounters().count("disks that were full");
    }

    private void lie(int a, int b) {
        if (simulation.plan().power() && simulation.victim().isChosen(a)) {
            simulation.victim().lie();
            simulation.points().crashIn(b * 4);
        }
    }

    private void putBack(int a, int b) {
        if (!simulation.victim().isLone() && simulation.victim().isChosen(a)) {
            simulation.victim().putBackLater();
            simulation.endSoon(b);
        }
    }

    private void crashInClose(int server, int a, int b) {
        if (simulation.plan().power() && b % 3 == 0) {
            simulation.memories().of(server).device().endPowerAtClose(b / 3 % 2);
        } else {
            simulation.points().crashCloseIn(b % 3 == 1 ? a % 20 : a % MOST_POINTS_OF_A_CLOSE);
        }
        simulation.reopen();
    }
}
