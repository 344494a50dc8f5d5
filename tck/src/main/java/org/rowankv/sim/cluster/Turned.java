package org.rowankv.sim.cluster;

import org.jspecify.annotations.Nullable;

/** Something that gets turns in a simulation. */
abstract class Turned {
    static final long NEVER = Long.MAX_VALUE;

    private final @Nullable SimProcess process;
    private boolean onStack;

    /** @param process that it ends with, if there is one */
    Turned(@Nullable SimProcess process) {
        this.process = process;
    }

    /** From when on there is something to do. */
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
}
