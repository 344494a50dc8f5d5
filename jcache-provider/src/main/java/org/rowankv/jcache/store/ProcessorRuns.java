package org.rowankv.jcache.store;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.rowankv.jcache.event.PerThreadSlots;
import org.rowankv.protocol.Request;

/**
 * The entry processors that run at this moment in this JVM on one cache, by thread: tells a processor which changes its
 * own key through the cache, and so would be run again for ever, from one that meets another thread. Thread-safe.
 */
public final class ProcessorRuns {
    /** One processor at work; touched by its own thread only. */
    public static final class Run {
        private final byte[] key;
        private final @Nullable Run outer;
        private boolean disturbedItself;

        private Run(byte[] key, @Nullable Run outer) {
            this.key = key;
            this.outer = outer;
        }

        public boolean disturbedItself() {
            return disturbedItself;
        }
    }

    private final PerThreadSlots<Run> runs = new PerThreadSlots<>();
    /** A processor has run here: before that a mutation has nothing to look for. */
    private volatile boolean used;

    public Run begin(byte[] key) {
        used = true;
        final Run run = new Run(key, runs.get());
        runs.set(run);
        return run;
    }

    public void end(Run run) {
        runs.set(run.outer);
    }

    /** Called after every mutation that took effect. */
    public void noteMutation(Request request) {
        if (!used) {
            return;
        }
        for (Run run = runs.get(); run != null; run = run.outer) {
            final int from = request.keyOffset();
            if (Arrays.equals(run.key, 0, run.key.length, request.key(), from, from + request.keyLength())) {
                run.disturbedItself = true;
            }
        }
    }
}
