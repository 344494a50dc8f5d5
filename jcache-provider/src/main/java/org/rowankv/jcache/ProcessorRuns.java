package org.rowankv.jcache;

import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.rowankv.protocol.Request;

/**
 * The entry processors that run at this moment in this JVM on one cache, by thread: tells a processor which changes its
 * own key through the cache, and so would be run again for ever, from one that meets another thread. Thread-safe.
 */
final class ProcessorRuns {
    /** One processor at work; touched by its own thread only. */
    static final class Run {
        private final byte[] key;
        private final @Nullable Run outer;
        private boolean disturbedItself;

        private Run(byte[] key, @Nullable Run outer) {
            this.key = key;
            this.outer = outer;
        }

        boolean disturbedItself() {
            return disturbedItself;
        }
    }

    private final Map<Thread, Run> runs = new ConcurrentHashMap<>();

    Run begin(byte[] key) {
        final Run run = new Run(key, runs.get(Thread.currentThread()));
        runs.put(Thread.currentThread(), run);
        return run;
    }

    void end(Run run) {
        if (run.outer == null) {
            runs.remove(Thread.currentThread());
        } else {
            runs.put(Thread.currentThread(), run.outer);
        }
    }

    /** Called after every mutation that took effect. */
    void noteMutation(Request request) {
        if (runs.isEmpty()) {
            return;
        }
        for (Run run = runs.get(Thread.currentThread()); run != null; run = run.outer) {
            final int from = request.keyOffset();
            if (Arrays.equals(run.key, 0, run.key.length, request.key(), from, from + request.keyLength())) {
                run.disturbedItself = true;
            }
        }
    }
}
