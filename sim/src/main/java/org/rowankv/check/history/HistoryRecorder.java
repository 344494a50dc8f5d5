package org.rowankv.check.history;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Recorder of a run's history in windows. Callers add to their own logs; when all of them pause, the checker takes the
 * window, whose last events are its own reads of every key. So each window begins with a known state, and a run can
 * have any length. Threads: one per log while callers run, the checker alone while they pause; where keys are added
 * while callers run, one thread for everything.
 */
public final class HistoryRecorder {
    private final List<CallerLog> logs = new ArrayList<>();
    private int keys;
    private long[] value;
    private long[] version;

    public HistoryRecorder(int callers, int keys) {
        this.keys = keys;
        this.value = new long[keys];
        this.version = new long[keys];
        for (int i = 0; i < callers; i++) {
            logs.add(new CallerLog(keys));
        }
    }

    /**
     * Adds keys, as of a cache that is created while callers run.
     *
     * @return the first of them
     */
    public int addKeys(int count) {
        final int first = keys;
        keys += count;
        value = Arrays.copyOf(value, keys);
        version = Arrays.copyOf(version, keys);
        logs.forEach(log -> log.grow(keys));
        return first;
    }

    public CallerLog log(int caller) {
        return logs.get(caller);
    }

    /** Checks the recorded operations of a key since the last window and starts the key's next window. */
    public List<Anomaly> check(int key, Event lastRead, KeyHistoryChecker checker) {
        final List<Event> events = new ArrayList<>();
        for (CallerLog log : logs) {
            events.addAll(log.of(key));
        }
        events.add(lastRead);
        final List<Anomaly> anomalies = checker.check(key, value[key], version[key], events);
        value[key] = lastRead.outcome() == Outcome.DONE ? lastRead.observed() : Event.ABSENT;
        version[key] = lastRead.outcome() == Outcome.DONE ? lastRead.version() : 0;
        return anomalies;
    }

    /** Number of operations not checked yet. */
    public long size() {
        long size = 0;
        for (CallerLog log : logs) {
            for (int key = 0; key < keys; key++) {
                size += log.of(key).size();
            }
        }
        return size;
    }

    /** Discards the window; the keys' states are kept. */
    public void clear() {
        logs.forEach(CallerLog::clear);
    }
}
