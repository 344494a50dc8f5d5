package org.rowankv.runtime;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * Named points in the code where a test may stall a thread or make it throw.
 *
 * <p>Off unless the JVM is started with {@code -Drowan.chaos=true}. The flag is a constant, so the JIT drops the points
 * when it is off. When on, each point counts its hits, so that a test can prove coverage, and calls the installed
 * handler.
 *
 * <p>Safe for any thread. One handler per JVM: tests that install one must not run concurrently.
 */
public final class Chaos {
    public static final boolean ENABLED = Boolean.getBoolean("rowan.chaos");

    private static final ChaosHandler NOTHING = name -> {};
    private static final ConcurrentHashMap<String, LongAdder> HITS = new ConcurrentHashMap<>();
    private static volatile ChaosHandler handler = NOTHING;

    private Chaos() {}

    /** Marks a chaos point: counts a hit, then calls the handler. */
    public static void point(String name) {
        if (ENABLED) {
            reached(name);
        }
    }

    /** Installs the handler for all points. Throws if points are off, because the handler would never be called. */
    public static void install(ChaosHandler newHandler) {
        if (!ENABLED) {
            throw new IllegalStateException("start the JVM with -Drowan.chaos=true");
        }
        handler = newHandler;
    }

    /** Removes the handler and clears the counts. */
    public static void reset() {
        handler = NOTHING;
        HITS.clear();
    }

    /** Number of hits of the point since the last reset; 0 if points are off. */
    public static long hits(String name) {
        final LongAdder hits = HITS.get(name);
        return hits == null ? 0 : hits.sum();
    }

    private static void reached(String name) {
        HITS.computeIfAbsent(name, unused -> new LongAdder()).increment();
        handler.onPoint(name);
    }
}
