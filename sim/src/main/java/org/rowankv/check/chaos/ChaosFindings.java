package org.rowankv.check.chaos;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** What broke the promise, as text and in numbers. Thread-safe. */
final class ChaosFindings {
    private static final int MOST_TEXTS = 50;

    /** Reports use this order. */
    enum Kind {
        /** An acknowledged write is not there. */
        LOST,
        /** An operation took effect twice. */
        DOUBLED,
        /** An answer is older than an acknowledged write that preceded it. */
        STALE,
        /** No order of operations explains the answers, or replicas differ. */
        UNEXPLAINED,
        /** An operation failed although the fault is survivable, or failed in a way that does not state its outcome. */
        APP_EXCEPTIONS
    }

    /** Counts of equal texts. */
    private final Map<String, Integer> texts = new LinkedHashMap<>();

    private final Map<Kind, Long> counts = new EnumMap<>(Kind.class);
    private long allowed;
    private boolean mayFail;

    /** Whether operations may fail from now on, since no server can answer them. */
    synchronized void mayFail(boolean may) {
        mayFail = may;
    }

    synchronized void add(Kind kind, String text) {
        counts.merge(kind, 1L, Long::sum);
        final String line = kind.name().toLowerCase(Locale.ROOT) + ": " + text;
        if (texts.size() < MOST_TEXTS || texts.containsKey(line)) {
            texts.merge(line, 1, Integer::sum);
        }
    }

    /** An operation that failed, and whose failure states its outcome. */
    synchronized void addFailure(String text) {
        if (mayFail) {
            allowed++;
        } else {
            add(Kind.APP_EXCEPTIONS, text);
        }
    }

    synchronized void addFailures(long count, String text) {
        for (long i = 0; i < count; i++) {
            addFailure(text);
        }
    }

    synchronized long count(Kind kind) {
        return counts.getOrDefault(kind, 0L);
    }

    synchronized long total() {
        return counts.values().stream().mapToLong(Long::longValue).sum();
    }

    /** Operations that failed while none could be served. */
    synchronized long allowed() {
        return allowed;
    }

    /** The texts since the last call. */
    synchronized List<String> take() {
        final List<String> taken = new ArrayList<>();
        texts.forEach((text, count) -> taken.add(count == 1 ? text : text + " (" + count + " times)"));
        texts.clear();
        return taken;
    }
}
