package org.rowankv.sim.cluster;

import org.jspecify.annotations.Nullable;
import org.rowankv.sim.Task;

/** A task that ends with its process. */
abstract class ProcessTask extends Task {
    private final @Nullable SimProcess process;

    /** @param process null if it has none */
    ProcessTask(@Nullable SimProcess process) {
        this.process = process;
    }

    @Override
    public boolean isDead() {
        return process != null && process.isDead();
    }

    @Nullable
    SimProcess process() {
        return process;
    }

    /** Of a task: the process that it ends with, or null. */
    static @Nullable SimProcess of(@Nullable Task task) {
        return task instanceof ProcessTask own ? own.process : null;
    }
}
