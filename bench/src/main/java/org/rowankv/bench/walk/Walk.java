package org.rowankv.bench.walk;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;

/**
 * The classes entered during a series of calls, according to the instrumented classes. Thread-safe; one walk at a time.
 */
public final class Walk {
    /**
     * An entered class.
     *
     * @param station whether it calls another class of this project in more than half of the calls, so that a reader
     * must follow it. A leaf, such as a descriptor, a counter or a comparison, does not
     */
    record Visit(String type, boolean station) {}

    private static final Object LOCK = new Object();
    private static volatile boolean recording;
    /** By thread and class: whether it has called another class. Guarded by {@link #LOCK}. */
    private static final Map<Thread, Map<String, Boolean>> ENTERED = new LinkedHashMap<>();
    /** The methods in progress, by thread; kept between calls, since a thread may be in the middle of some. */
    private static final Map<Thread, Deque<String>> INSIDE = new ConcurrentHashMap<>();

    private Walk() {}

    /** Records that a thread enters a method of that class; called by instrumented code. */
    public static void entered(String type) {
        final Deque<String> inside = inside();
        final String caller = inside.peek();
        inside.push(type);
        if (recording) {
            synchronized (LOCK) {
                final Map<String, Boolean> types =
                        ENTERED.computeIfAbsent(Thread.currentThread(), thread -> new LinkedHashMap<>());
                if (caller != null && !caller.equals(type)) {
                    types.computeIfPresent(caller, (known, before) -> true);
                }
                types.putIfAbsent(type, false);
            }
        }
    }

    /** Records that a thread leaves the method it has entered last; called by instrumented code. */
    public static void left() {
        inside().pop();
    }

    private static Deque<String> inside() {
        return INSIDE.computeIfAbsent(Thread.currentThread(), thread -> new ArrayDeque<>());
    }

    /**
     * Makes a call this many times.
     *
     * @param counts the threads that are recorded, by name
     * @return the classes entered by more than half of the calls, in the order of their first entry
     */
    static List<Visit> of(Runnable call, int times, Predicate<String> counts) {
        final Map<String, Integer> calls = new LinkedHashMap<>();
        final Map<String, Integer> stays = new LinkedHashMap<>();
        for (int i = 0; i < times; i++) {
            synchronized (LOCK) {
                ENTERED.clear();
            }
            recording = true;
            call.run();
            recording = false;
            final Map<String, Boolean> entered = new LinkedHashMap<>();
            synchronized (LOCK) {
                ENTERED.forEach((thread, types) -> {
                    if (counts.test(thread.getName())) {
                        types.forEach((type, calling) -> entered.merge(type, calling, Boolean::logicalOr));
                    }
                });
            }
            entered.forEach((type, calling) -> {
                calls.merge(type, 1, Integer::sum);
                stays.merge(type, calling ? 1 : 0, Integer::sum);
            });
        }
        final List<Visit> most = new ArrayList<>();
        calls.forEach((type, count) -> {
            if (2 * count > times) {
                most.add(new Visit(type, 2 * stays.getOrDefault(type, 0) > times));
            }
        });
        return most;
    }
}
