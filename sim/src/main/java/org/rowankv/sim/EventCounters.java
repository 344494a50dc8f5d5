package org.rowankv.sim;

import java.io.PrintStream;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** Event counters, by name. Confined to one thread at a time. */
public final class EventCounters {
    /** A cached counter, for events too frequent for a lookup by name. */
    public static final class Counter {
        private long count;

        public void add(long times) {
            count += times;
        }
    }

    private final Map<String, Counter> counts = new HashMap<>();

    public Counter counter(String what) {
        return counts.computeIfAbsent(what, unused -> new Counter());
    }

    public void count(String what) {
        add(what, 1);
    }

    public void add(String what, long times) {
        counter(what).add(times);
    }

    public long of(String what) {
        final Counter counter = counts.get(what);
        return counter == null ? 0 : counter.count;
    }

    public void addAll(EventCounters others) {
        others.counts.forEach((what, counter) -> add(what, counter.count));
    }

    /** All counters, in order of their names. */
    public Map<String, Long> all() {
        final Map<String, Long> all = new TreeMap<>();
        counts.forEach((what, counter) -> all.put(what, counter.count));
        return all;
    }

    /** Prints a line for each, by name. */
    public void print(PrintStream out) {
        all().forEach((name, count) -> out.printf(Locale.ROOT, "  %-60s %,14d%n", name, count));
    }
}
