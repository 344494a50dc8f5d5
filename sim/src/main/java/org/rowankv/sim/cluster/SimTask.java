package org.rowankv.sim.cluster;

import org.jspecify.annotations.Nullable;

/** A unit of execution that a simulation runs in steps. */
abstract class SimTask {
    static final long NEVER = Long.MAX_VALUE;

    private final @Nullable SimProcess process;
    private boolean onStack;
    /** Index in the {@link TaskQueue}'s ready or waiting list; −1: in neither. */
    private int index = -1;

    private boolean ready;
    private long dueNs;
    /** Index in the list of all tasks; −1: not in it. */
    private int place = -1;

    /** @param process that it ends with, if there is one */
    SimTask(@Nullable SimProcess process) {
        this.process = process;
    }

    /** The time from which it has work. A change outside of its own step must be reported to {@link ClusterScheduler}. */
    abstract long readyAtNs();

    abstract void step();

    /** Whether it, or its process, has ended. */
    boolean isGone() {
        return isDead();
    }

    boolean isDead() {
        return process != null && process.isDead();
    }

    @Nullable
    SimProcess process() {
        return process;
    }

    /** Whether it is on the stack: it stopped, and other tasks run meanwhile. */
    boolean isOnStack() {
        return onStack;
    }

    void onStack(boolean now) {
        onStack = now;
    }

    // --- its position, for the queues ---

    int index() {
        return index;
    }

    void index(int now) {
        index = now;
    }

    boolean isReady() {
        return ready;
    }

    void isReady(boolean now) {
        ready = now;
    }

    long dueNs() {
        return dueNs;
    }

    void dueNs(long now) {
        dueNs = now;
    }

    int place() {
        return place;
    }

    void place(int now) {
        place = now;
    }
}
