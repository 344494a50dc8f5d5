package org.rowankv.jcache.store;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.rowankv.jcache.event.PerThreadSlots;
import org.rowankv.protocol.Request;

/**
 * Entry processors in progress on one cache, by thread: distinguishes a processor that changes its own key through the
 * cache, and would be retried for ever, from one that competes with other threads. Thread-safe.
 */
public final class ProcessorRuns {
    /** A processor in progress; confined to its thread. */
    public static final class Run {
        private final byte[] key;
        private final @Nullable Run outer;
        private boolean changedOwnKey;

        private Run(byte[] key, @Nullable Run outer) {
            this.key = key;
            this.outer = outer;
        }

        public boolean changedOwnKey() {
            return changedOwnKey;
        }
    }

    private final PerThreadSlots<Run> runs = new PerThreadSlots<>();
    /** Whether a processor has ever run: until then mutations skip the check. */
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

    /** Called after every applied mutation. */
    public void noteMutation(Request request) {
        if (!used) {
            return;
        }
        for (Run run = runs.get(); run != null; run = run.outer) {
            final int from = request.keyOffset();
            if (Arrays.equals(run.key, 0, run.key.length, request.key(), from, from + request.keyLength())) {
                run.changedOwnKey = true;
            }
        }
    }
}
