package org.rowankv.check.history;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Collects the history of a run in windows: callers add to logs of their own; when all of them rest, the judge takes the
 * window, whose last events are its own reads of every key. So each window begins with a known state and a run can be
 * of any length. Threads: one per log while callers run, the judge alone while they rest; where keys are added while callers run,
 * one thread for all.
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
     * More keys, as of a cache that is created while callers run.
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

    /** Judges what was recorded of a key since the last window and starts the key's next window. */
    public List<Anomaly> judge(int key, Event lastRead, KeyHistoryChecker checker) {
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

    /** How many operations wait to be judged. */
    public long size() {
        long size = 0;
        for (CallerLog log : logs) {
            for (int key = 0; key < keys; key++) {
                size += log.of(key).size();
            }
        }
        return size;
    }

    /** Forgets the window; the keys' states stay. */
    public void clear() {
        logs.forEach(CallerLog::clear);
    }
}
