package org.rowankv.sim;

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
        CATALOGUE(new CatalogueFault());

        private final Fault fault;

        Kind(Fault fault) {
            this.fault = fault;
        }
    }

    void strike(Simulation simulation) {
        kind.fault.strike(simulation, a, b);
    }

    @Override
    public String toString() {
        return kind + " after " + afterOperations + " operations (" + a + ", " + b + ")";
    }
}
