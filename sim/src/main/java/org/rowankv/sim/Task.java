package org.rowankv.sim;

/** A unit of execution that a simulation runs in steps. */
public abstract class Task {
    public static final long NEVER = Long.MAX_VALUE;

    private boolean onStack;
    /** Index in the {@link TaskQueue}'s ready or waiting list; −1: in neither. */
    private int index = -1;

    private boolean ready;
    private long dueNs;
    /** Index in the list of all tasks; −1: not in it. */
    private int place = -1;

    /**
     * The time from which it has work. Where tasks are queued, a change outside of its own step must be reported to {@link
     * StepScheduler#changed}.
     */
    public abstract long readyAtNs();

    public abstract void step();

    /** Whether it is a caller's thread, which an error can end, and not an agent. */
    public boolean isCaller() {
        return false;
    }

    /** Whether its process has ended. */
    public boolean isDead() {
        return false;
    }

    /** Whether it, or its process, has ended. */
    public boolean isGone() {
        return isDead();
    }

    /** Whether it is on the stack: it stopped in a step, and other tasks run meanwhile. */
    public final boolean isOnStack() {
        return onStack;
    }

    final void onStack(boolean now) {
        onStack = now;
    }

    // --- its position, for the queues ---

    public final int index() {
        return index;
    }

    final void index(int now) {
        index = now;
    }

    public final boolean isReady() {
        return ready;
    }

    final void isReady(boolean now) {
        ready = now;
    }

    public final long dueNs() {
        return dueNs;
    }

    final void dueNs(long now) {
        dueNs = now;
    }

    public final int place() {
        return place;
    }

    public final void place(int now) {
        place = now;
    }
}
