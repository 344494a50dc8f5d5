package org.rowankv.sim.cluster;

import org.jspecify.annotations.Nullable;
import org.rowankv.sim.Task;

/** A unit of execution that a simulation runs in steps. */
abstract class SimTask extends Task {
    private final @Nullable SimProcess process;
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
    @Override
    public abstract long readyAtNs();

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
