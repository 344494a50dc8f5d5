package org.rowankv.bench.walk;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Recorder of the classes that threads enter during calls, in order; the instrumented classes report to it.
 * Thread-safe; one recording at a time.
 */
public final class Walk {
    private static final Object LOCK = new Object();
    private static volatile boolean recording;
    private static final Map<Thread, Set<String>> ENTERED = new LinkedHashMap<>();

    private Walk() {}

    /** Records that a thread enters a method of that class; called by instrumented code. */
    public static void entered(String type) {
        if (recording) {
            synchronized (LOCK) {
                ENTERED.computeIfAbsent(Thread.currentThread(), thread -> new LinkedHashSet<>())
                        .add(type);
            }
        }
    }

    /**
     * Makes a call this many times.
     *
     * @param counts the threads that are recorded, by name
     * @return the classes entered by more than half of the calls, in the order of their first entry
     */
    static List<String> of(Runnable call, int times, Predicate<String> counts) {
        final Map<String, Integer> calls = new LinkedHashMap<>();
        for (int i = 0; i < times; i++) {
            synchronized (LOCK) {
                ENTERED.clear();
            }
            recording = true;
            call.run();
            recording = false;
            final Set<String> entered = new LinkedHashSet<>();
            synchronized (LOCK) {
                ENTERED.forEach((thread, types) -> {
                    if (counts.test(thread.getName())) {
                        entered.addAll(types);
                    }
                });
            }
            entered.forEach(type -> calls.merge(type, 1, Integer::sum));
        }
        final List<String> most = new ArrayList<>();
        calls.forEach((type, count) -> {
            if (2 * count > times) {
                most.add(type);
            }
        });
        return most;
    }
}
