package org.rowankv.check.history;

import java.util.ArrayList;
import java.util.List;

/** The history of one caller, by key. Written by that caller alone; read while it pauses. */
public final class CallerLog {
    private final List<List<Event>> byKey = new ArrayList<>();

    CallerLog(int keys) {
        grow(keys);
    }

    /** Grows to this number of keys. */
    void grow(int keys) {
        while (byKey.size() < keys) {
            byKey.add(new ArrayList<>());
        }
    }

    public void add(int key, Event event) {
        byKey.get(key).add(event);
    }

    List<Event> of(int key) {
        return byKey.get(key);
    }

    void clear() {
        byKey.forEach(List::clear);
    }
}
