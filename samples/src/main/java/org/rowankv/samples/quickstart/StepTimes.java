package org.rowankv.samples.quickstart;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Stopwatch for the cache operations alone, without file reads and digests. Confined to one thread. */
final class StepTimes {
    private long puts;
    private long putNs;
    private long gets;
    private long getNs;

    void put(Runnable put) {
        final long startNs = System.nanoTime();
        put.run();
        putNs += System.nanoTime() - startNs;
        puts++;
    }

    byte @Nullable [] get(Supplier<byte @Nullable []> get) {
        final long startNs = System.nanoTime();
        final byte[] value = get.get();
        getNs += System.nanoTime() - startNs;
        gets++;
        return value;
    }

    long putsPerSecond() {
        return Math.round(1e9 * puts / Math.max(1, putNs));
    }

    long getsPerSecond() {
        return Math.round(1e9 * gets / Math.max(1, getNs));
    }
}
