package org.rowankv.sim;

import java.util.Map;
import java.util.TreeMap;

/** How often what has happened, by name. For one thread at a time. */
final class Happenings {
    private final Map<String, long[]> counts = new TreeMap<>();

    void count(String what) {
        add(what, 1);
    }

    void add(String what, long times) {
        counts.computeIfAbsent(what, unused -> new long[1])[0] += times;
    }

    long of(String what) {
        final long[] count = counts.get(what);
        return count == null ? 0 : count[0];
    }

    void addAll(Happenings others) {
        others.counts.forEach((what, count) -> add(what, count[0]));
    }

    Map<String, Long> all() {
        final Map<String, Long> all = new TreeMap<>();
        counts.forEach((what, count) -> all.put(what, count[0]));
        return all;
    }
}
