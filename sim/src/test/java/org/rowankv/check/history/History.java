package org.rowankv.check.history;

import java.util.ArrayList;
import java.util.List;

/**
 * Builder of hand-written histories: one line per operation, with its interval. Versions follow the order of the lines.
 */
final class History {
    static final int KEY = 7;

    private final List<Event> events = new ArrayList<>();
    private final long initialValue;
    private final long initialVersion;

    private History(long initialValue, long initialVersion) {
        this.initialValue = initialValue;
        this.initialVersion = initialVersion;
    }

    static History empty() {
        return new History(Event.ABSENT, 0);
    }

    static History holding(long value, long version) {
        return new History(value, version);
    }

    History get(int from, int to, long value, long version) {
        final Outcome outcome = value == Event.ABSENT ? Outcome.NOT_FOUND : Outcome.DONE;
        return add(KeyAction.GET, Event.ABSENT, 0, outcome, version, 0, value, from, to);
    }

    History miss(int from, int to) {
        return get(from, to, Event.ABSENT, 0);
    }

    History put(int from, int to, long value, long version, long previousVersion) {
        return add(KeyAction.PUT, value, 0, Outcome.DONE, version, previousVersion, Event.NOT_ASKED, from, to);
    }

    History unknownPut(int from, long value) {
        return unknown(KeyAction.PUT, from, value, 0);
    }

    History getAndPut(int from, int to, long value, long version, long previousVersion, long previousValue) {
        return add(KeyAction.GET_AND_PUT, value, 0, Outcome.DONE, version, previousVersion, previousValue, from, to);
    }

    History putIfAbsent(int from, int to, long value, long version) {
        return add(KeyAction.PUT_IF_ABSENT, value, 0, Outcome.DONE, version, 0, Event.NOT_ASKED, from, to);
    }

    /** A read that found no object, and returned a version for a later condition. */
    History missAt(int from, int to, long version) {
        return get(from, to, Event.ABSENT, version);
    }

    History putIfUnchanged(int from, int to, long value, long since, long version) {
        return add(KeyAction.PUT_IF_ABSENT_SINCE, value, since, Outcome.DONE, version, 0, Event.NOT_ASKED, from, to);
    }

    History putIfUnchangedFailed(int from, int to, long value, long since, long versionThere) {
        return add(
                KeyAction.PUT_IF_ABSENT_SINCE,
                value,
                since,
                Outcome.CONDITION_FAILED,
                versionThere,
                0,
                Event.NOT_ASKED,
                from,
                to);
    }

    History replaceAny(int from, int to, long value, long version, long previousVersion) {
        return add(KeyAction.REPLACE, value, 0, Outcome.DONE, version, previousVersion, Event.NOT_ASKED, from, to);
    }

    History putIfAbsentFailed(int from, int to, long value, long versionThere) {
        return add(
                KeyAction.PUT_IF_ABSENT,
                value,
                0,
                Outcome.CONDITION_FAILED,
                versionThere,
                0,
                Event.NOT_ASKED,
                from,
                to);
    }

    History replace(int from, int to, long value, long expected, long version) {
        return add(
                KeyAction.REPLACE_IF_VERSION,
                value,
                expected,
                Outcome.DONE,
                version,
                expected,
                Event.NOT_ASKED,
                from,
                to);
    }

    History replaceFailed(int from, int to, long value, long expected, long versionThere) {
        return add(
                KeyAction.REPLACE_IF_VERSION,
                value,
                expected,
                Outcome.CONDITION_FAILED,
                versionThere,
                0,
                Event.NOT_ASKED,
                from,
                to);
    }

    History remove(int from, int to, long version, long previousVersion) {
        return add(
                KeyAction.REMOVE, Event.ABSENT, 0, Outcome.DONE, version, previousVersion, Event.NOT_ASKED, from, to);
    }

    History removeMissed(int from, int to) {
        return add(KeyAction.REMOVE, Event.ABSENT, 0, Outcome.NOT_FOUND, 0, 0, Event.NOT_ASKED, from, to);
    }

    History removeIf(int from, int to, long expected, long version) {
        return add(
                KeyAction.REMOVE_IF_VERSION,
                Event.ABSENT,
                expected,
                Outcome.DONE,
                version,
                expected,
                Event.NOT_ASKED,
                from,
                to);
    }

    History unknown(KeyAction action, int from, long value, long expected) {
        return add(action, value, expected, Outcome.UNKNOWN, 0, 0, Event.NOT_ASKED, from, from);
    }

    History add(
            KeyAction action,
            long written,
            long expected,
            Outcome outcome,
            long version,
            long previousVersion,
            long observed,
            int from,
            int to) {
        events.add(new Event(
                events.size(), action, written, expected, outcome, version, previousVersion, observed, from, to));
        return this;
    }

    List<Anomaly> check() {
        return new KeyHistoryChecker().check(KEY, initialValue, initialVersion, events);
    }

    List<Event> events() {
        return events;
    }
}
