package org.rowankv.sim.embedded;

import java.util.List;
import org.rowankv.runtime.RandomSource;

/**
 * A fault with its time, in number of begun operations.
 *
 * @param afterOperations number of begun operations
 * @param a argument of the kind, drawn from 0 to 999
 * @param b likewise
 */
record PlannedFault(int afterOperations, Kind kind, int a, int b) {
    /** Each kind has its own class. */
    enum Kind {
        CRASH(new CrashFault()),
        REOPEN(new ReopenFault()),
        FENCE(new FenceFault()),
        PAUSE(new PauseFault()),
        LEAVE(new LeaveFault()),
        CUT_OFF(new CutOffFault()),
        EMPTY(new EmptyFault()),
        SLOW_LINK(new SlowLinkFault()),
        CUT_LINK(new CutLinkFault()),
        CLOCK_JUMP(new ClockJumpFault()),
        CRASH_BEHIND(new CrashBehindFault()),
        LAST_WORDS(new SilentClientFault()),
        CATALOGUE(new CatalogueFault()),
        BIT_ROT(new BitRotFault()),
        FORCE_FAILS(new ForceFault()),
        DISK_FULL(new FullDiskFault()),
        DEVICE_LIES(new LyingDeviceFault()),
        OLD_AREA(new OldAreaFault()),
        CRASH_IN_CLOSE(new CloseCrashFault()),
        TRANSFER(new TransferFault());

        /** Kinds of device faults, which are drawn separately. */
        private static final List<Kind> OF_DEVICES =
                List.of(BIT_ROT, BIT_ROT, FORCE_FAILS, FORCE_FAILS, DISK_FULL, DEVICE_LIES, OLD_AREA, CRASH_IN_CLOSE);

        private final Fault fault;

        Kind(Fault fault) {
            this.fault = fault;
        }
    }

    /** Draws a kind other than a device fault. */
    static Kind usual(RandomSource random) {
        return Kind.values()[random.nextInt(Kind.BIT_ROT.ordinal())];
    }

    static Kind ofDevice(RandomSource random) {
        return Kind.OF_DEVICES.get(random.nextInt(Kind.OF_DEVICES.size()));
    }

    void strike(Simulation simulation) {
        kind.fault.strike(simulation, a, b);
    }

    @Override
    public String toString() {
        return kind + " after " + afterOperations + " operations (" + a + ", " + b + ")";
    }
}
