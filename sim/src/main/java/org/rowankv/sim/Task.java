package org.rowankv.sim;

/** A unit of execution that a simulation runs in steps. */
public abstract class Task {
    public static final long NEVER = Long.MAX_VALUE;

    private boolean onStack;

    /** The time from which it has work. */
    public abstract long readyAtNs();

    public abstract void step();

    /** Whether it is a caller's thread, which an error can end, and not an agent. */
    public boolean isCaller() {
        return false;
    }

    /** Whether it is on the stack: it stopped in a step, and other tasks run meanwhile. */
    public final boolean isOnStack() {
        return onStack;
    }

    final void onStack(boolean now) {
        onStack = now;
    }
}
