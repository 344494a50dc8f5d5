package org.rowankv.sim;

import java.util.List;
import org.rowankv.runtime.RandomSource;

/**
 * Something that goes wrong, once so many operations were begun.
 *
 * @param afterOperations when
 * @param a what the kind says, drawn from 0 to 999
 * @param b as well
 */
record PlannedFault(int afterOperations, Kind kind, int a, int b) {
    /** Each a class of its own. */
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
        LAST_WORDS(new LastWordsFault()),
        CATALOGUE(new CatalogueFault()),
        BIT_ROT(new BitRotFault()),
        FORCE_FAILS(new ForceFault()),
        DISK_FULL(new FullDiskFault()),
        DEVICE_LIES(new LyingDeviceFault()),
        OLD_AREA(new OldAreaFault()),
        CRASH_IN_CLOSE(new CloseCrashFault());

        /** Those of devices, which are drawn apart. */
        private static final List<Kind> OF_DEVICES =
                List.of(BIT_ROT, BIT_ROT, FORCE_FAILS, FORCE_FAILS, DISK_FULL, DEVICE_LIES, OLD_AREA, CRASH_IN_CLOSE);

        private final Fault fault;

        Kind(Fault fault) {
            this.fault = fault;
        }
    }

    /** A kind of fault, but of a device. */
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
