package org.rowankv.sim;

/** A unit of execution that a simulation runs in steps. */
abstract class Task {
    static final long NEVER = Long.MAX_VALUE;

    /** Whether it is on the stack: it stopped at a point, and other tasks run meanwhile. */
    private boolean onStack;

    /** The time from which it has work. */
    abstract long readyAtNs();

    abstract void step();

    /** Whether it is a caller's thread, which an error can end, and not an agent. */
    abstract boolean isCaller();

    boolean isOnStack() {
        return onStack;
    }

    void onStack(boolean now) {
        onStack = now;
    }
}
