package org.rowankv.sim;

/** Something that gets turns in a simulation. */
abstract class Task {
    static final long NEVER = Long.MAX_VALUE;

    /** It is being turned: it stopped at a point and others go on meanwhile. */
    private boolean onStack;

    /** From when on there is something to do. */
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
