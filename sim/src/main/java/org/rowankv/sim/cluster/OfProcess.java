package org.rowankv.sim.cluster;

import org.jspecify.annotations.Nullable;
import org.rowankv.sim.Task;

/** A task that ends with its process. */
interface OfProcess {
    /** Null if it has none. */
    @Nullable
    SimProcess process();

    /** The process that a task ends with, or null. */
    static @Nullable SimProcess of(@Nullable Task task) {
        return task instanceof OfProcess own ? own.process() : null;
    }
}
