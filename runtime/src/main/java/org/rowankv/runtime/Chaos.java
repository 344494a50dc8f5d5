package org.rowankv.runtime;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * Named places in the code where a test may stall or break a thread.
 *
 * <p>Off unless the JVM was started with {@code -Drowan.chaos=true}; then the compiler drops the points, since the
 * flag is a constant. When on, every point counts that it was reached, so that a test can prove it went there, and
 * asks the installed handler.
 *
 * <p>Safe for any thread. One handler per JVM: tests that install one do not run side by side.
 */
public final class Chaos {
    public static final boolean ENABLED = Boolean.getBoolean("rowan.chaos");

    private static final ChaosHandler NOTHING = name -> {};
    private static final ConcurrentHashMap<String, LongAdder> HITS = new ConcurrentHashMap<>();
    private static volatile ChaosHandler handler = NOTHING;

    private Chaos() {}

    /** Something may happen here. */
    public static void point(String name) {
        if (ENABLED) {
            reached(name);
        }
    }

    /** Installs the handler for every point; throws if points are off, since it would never be called. */
    public static void install(ChaosHandler newHandler) {
        if (!ENABLED) {
            throw new IllegalStateException("start the JVM with -Drowan.chaos=true");
        }
        handler = newHandler;
    }

    /** Removes the handler and forgets the counts. */
    public static void reset() {
        handler = NOTHING;
        HITS.clear();
    }

    /** How often the point was reached since the last reset; 0 if points are off. */
    public static long hits(String name) {
        final LongAdder hits = HITS.get(name);
        return hits == null ? 0 : hits.sum();
    }

    private static void reached(String name) {
        HITS.computeIfAbsent(name, unused -> new LongAdder()).increment();
        handler.onPoint(name);
    }
}
