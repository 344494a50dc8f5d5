package org.rowankv.check.history;

import java.util.ArrayList;
import java.util.List;

/** What one caller saw, by key. Written by that caller alone; read when it rests. */
public final class CallerLog {
    private final List<List<Event>> byKey = new ArrayList<>();

    CallerLog(int keys) {
        grow(keys);
    }

    /** For that many keys from now on. */
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
