package org.rowankv.sim.cluster;

import org.jspecify.annotations.Nullable;
import org.rowankv.sim.Task;

/** A task of a process that is not an agent. */
abstract class ProcessTask extends Task implements OfProcess {
    private final @Nullable SimProcess process;

    ProcessTask(@Nullable SimProcess process) {
        this.process = process;
    }

    @Override
    public boolean isDead() {
        return process != null && process.isDead();
    }

    @Override
    public final @Nullable SimProcess process() {
        return process;
    }
}
