package org.rowankv.check.verify;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.LongAdder;

/** Event counts of a run, by name. Thread-safe. */
final class Tally {
    private final Map<String, LongAdder> counts = new ConcurrentSkipListMap<>();

    void count(String name) {
        counts.computeIfAbsent(name, unused -> new LongAdder()).increment();
    }

    long of(String name) {
        final LongAdder adder = counts.get(name);
        return adder == null ? 0 : adder.sum();
    }

    /** The counts whose name has that prefix, without it, in alphabetical order. */
    Map<String, Long> under(String prefix) {
        final Map<String, Long> result = new LinkedHashMap<>();
        counts.forEach((name, adder) -> {
            if (name.startsWith(prefix)) {
                result.put(name.substring(prefix.length()), adder.sum());
            }
        });
        return result;
    }
}
