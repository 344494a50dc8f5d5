package org.rowankv.sim.cluster;

import org.jspecify.annotations.Nullable;

/** Something that gets turns in a simulation. */
abstract class Turned {
    static final long NEVER = Long.MAX_VALUE;

    private final @Nullable SimProcess process;
    private boolean onStack;
    /** In the {@link TurnQueue}'s list of those that can go on, or of those that wait; −1: in neither. */
    private int index = -1;

    private boolean ready;
    private long dueNs;
    /** In the list of all; −1: not there. */
    private int place = -1;

    /** @param process that it ends with, if there is one */
    Turned(@Nullable SimProcess process) {
        this.process = process;
    }

    /** From when on there is something to do. Whoever changes that outside of a turn of this one tells the {@link ClusterTurns}. */
    abstract long readyAtNs();

    abstract void step();

    /** It is over, or its process is. */
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

    /** It is being turned: it stopped and others go on meanwhile. */
    boolean isOnStack() {
        return onStack;
    }

    void onStack(boolean now) {
        onStack = now;
    }

    // --- where it stands, for those that keep it there ---

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
