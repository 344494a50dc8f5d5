package org.rowankv.check.history;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.rowankv.protocol.Version;

/**
 * Decides whether a linearizable register that applies each operation at most once can explain the history of one key.
 * It depends only on the store's contract.
 *
 * <p>It finds: stale reads; reads of removed, never written and torn values; lost updates; conditional operations that
 * took effect, or did not, against their condition; an operation applied twice; versions that repeat or decrease. It
 * does not find: anything across keys; a {@link KeyAction#PUT_IF_ABSENT_SINCE} that is refused although nothing has
 * changed, which is allowed.
 *
 * <p>Stateless between calls; safe for any thread.
 */
public final class KeyHistoryChecker {
    /** Enough for any window of a few hundred operations per key, at most some 100 MB. */
    public static final int DEFAULT_MAX_CONFIGURATIONS = 2_000_000;

    private final RegisterChecker registerChecker;

    public KeyHistoryChecker() {
        this(DEFAULT_MAX_CONFIGURATIONS);
    }

    KeyHistoryChecker(int maxConfigurations) {
        this.registerChecker = new RegisterChecker(maxConfigurations);
    }

    /**
     * Checks a history that begins with a known state.
     *
     * @param initialValue value when the first operation was invoked, or {@link Event#ABSENT}
     * @param initialVersion its version, or 0
     * @return the anomalies; empty when the history is explained
     */
    public List<Anomaly> check(int key, long initialValue, long initialVersion, List<Event> events) {
        final List<Anomaly> anomalies = new ArrayList<>();
        final Versions versions = new Versions(
                initialValue, initialVersion, events, reason -> anomalies.add(new Anomaly(key, reason, "")));
        checkSources(key, initialValue, events, versions, anomalies);
        checkUnchanged(key, events, anomalies);
        if (!anomalies.isEmpty()) {
            return anomalies; // the search below would only repeat the same finding in more words
        }
        final Set<Long> present = new HashSet<>();
        if (initialValue != Event.ABSENT) {
            present.add(initialValue);
        }
        events.stream().filter(event -> event.action().stores()).forEach(event -> present.add(event.written()));
        final List<Step> steps = new ArrayList<>(events.size());
        for (int i = 0; i < events.size(); i++) {
            addStep(steps, i, events.get(i), versions, present);
        }
        switch (registerChecker.check(steps, Set.of(initialValue))) {
            case LINEARIZABLE -> {}
            case NOT_LINEARIZABLE ->
                anomalies.add(new Anomaly(
                        key,
                        "no order of its operations explains their answers",
                        new OffendingWindow(registerChecker, events, steps, initialValue).describe()));
            case UNDECIDED ->
                anomalies.add(new Anomaly(
                        key, "undecided: the search for an order reached its bound, take smaller windows", ""));
        }
        return anomalies;
    }

    /** Every observed value was written, whole, by a write whose reply did not deny an effect. */
    private static void checkSources(
            int key, long initialValue, List<Event> events, Versions versions, List<Anomaly> anomalies) {
        final Map<Long, Event> writers = new HashMap<>();
        events.stream().filter(event -> event.action().stores()).forEach(event -> writers.put(event.written(), event));
        for (Event event : events) {
            final Event writer = writers.get(event.observed());
            final boolean strange = event.observed() == Event.TORN
                    || (event.observed() > Event.ABSENT && event.observed() != initialValue && writer == null);
            if (strange) {
                anomalies.add(new Anomaly(key, "this value was never written to the key", lines(event)));
            } else if (writer != null && writer.changedNothing()) {
                anomalies.add(new Anomaly(
                        key, "a write took effect although its reply said that it had not", lines(writer, event)));
            } else if (event.outcome() == Outcome.DONE
                            && !event.metDamage()
                            && !versions.canExist(event.previousVersion())
                    || event.outcome() == Outcome.CONDITION_FAILED && !versions.canExist(event.version())) {
                anomalies.add(new Anomaly(
                        key,
                        "no write that took effect, or may have, can have made the observed version",
                        lines(event)));
            }
        }
    }

    /**
     * A key's versions follow the order of its changes. So no version can lie between the version since which nothing
     * had changed and the new version.
     */
    private static void checkUnchanged(int key, List<Event> events, List<Anomaly> anomalies) {
        for (Event event : events) {
            if (event.action() != KeyAction.PUT_IF_ABSENT_SINCE || event.outcome() != Outcome.DONE) {
                continue;
            }
            for (Event other : events) {
                if (other.action().makesVersion()
                        && other.outcome() == Outcome.DONE
                        && other.version() > event.expectedVersion()
                        && other.version() < event.version()) {
                    anomalies.add(new Anomaly(
                            key,
                            "a write took effect as if nothing had changed since a version, but something had",
                            lines(other, event)));
                }
            }
        }
    }

    private static String lines(Event... events) {
        final StringBuilder text = new StringBuilder();
        for (Event event : events) {
            text.append("    caller ")
                    .append(event.caller())
                    .append(": ")
                    .append(event.question())
                    .append(": ")
                    .append(event.answer())
                    .append(System.lineSeparator());
        }
        return text.toString();
    }

    /** @param present every value that may be present */
    private static void addStep(List<Step> steps, int index, Event event, Versions versions, Set<Long> present) {
        final long sets =
                event.action().stores() ? event.written() : event.action().removes() ? Event.ABSENT : Step.UNCHANGED;
        switch (event.outcome()) {
            case REFUSED -> {}
            case NOT_FOUND -> steps.add(Step.certain(index, Set.of(Event.ABSENT), Step.UNCHANGED, event));
            case CONDITION_FAILED -> steps.add(Step.certain(index, whyFailed(event, versions), Step.UNCHANGED, event));
            case DONE -> {
                if (event.action() == KeyAction.GET) {
                    steps.add(Step.certain(index, Set.of(event.observed()), Step.UNCHANGED, event));
                } else if (event.action().isOfAll() || event.metDamage()) {
                    steps.add(Step.certain(index, null, sets, event));
                } else if (event.action() == KeyAction.TOUCH) {
                    steps.add(Step.certain(index, touched(event, versions), Step.UNCHANGED, event));
                } else {
                    steps.add(Step.certain(index, replaced(event, versions), sets, event));
                }
            }
            case UNKNOWN -> {
                if (event.action().requiresAbsence()) {
                    steps.add(Step.possible(index, Set.of(Event.ABSENT), sets, event));
                } else if (event.action() == KeyAction.EXPIRY) {
                    steps.add(Step.possible(index, Set.of(event.written()), Event.ABSENT, event));
                } else if (event.action() == KeyAction.TOUCH) {
                    // It does not change the checked state.
                } else if (event.action() == KeyAction.REPLACE) {
                    steps.add(Step.possible(index, present, sets, event));
                } else if (event.action().expectsVersion()) {
                    steps.add(Step.possible(index, versions.valuesOf(event.expectedVersion()), sets, event));
                } else if (event.action() != KeyAction.GET) {
                    steps.add(Step.possible(index, null, sets, event));
                }
            }
        }
    }

    /** The states in which the condition fails and the reply names the existing object. */
    private static Set<Long> whyFailed(Event event, Versions versions) {
        final boolean contradicts = switch (event.action()) {
            case PUT_IF_ABSENT -> event.version() == Version.NONE;
            case PUT_IF_ABSENT_SINCE ->
                false; // where there is no object, something may have changed, or been dropped from memory
            case REPLACE_IF_VERSION, REMOVE_IF_VERSION, TOUCH -> event.version() == event.expectedVersion();
            case GET, PUT, GET_AND_PUT, REPLACE, REMOVE, GET_AND_REMOVE, CLEAR, DESTROY, EXPIRY -> true;
        };
        final Set<Long> named = versions.valuesOf(event.version());
        final boolean otherValue = event.observed() > Event.ABSENT && !named.contains(event.observed());
        return contradicts || otherValue ? Set.of() : named;
    }

    /** The states in which an object of the expected version can be touched, and still has that version. */
    private static Set<Long> touched(Event event, Versions versions) {
        return event.version() == event.expectedVersion() ? versions.valuesOf(event.version()) : Set.of();
    }

    /** The states in which a mutation can have taken effect, given the object it replaced. */
    private static Set<Long> replaced(Event event, Versions versions) {
        final Set<Long> named = versions.valuesOf(event.previousVersion());
        final boolean againstCondition = switch (event.action()) {
            case PUT_IF_ABSENT, PUT_IF_ABSENT_SINCE -> event.previousVersion() != Version.NONE;
            case REPLACE_IF_VERSION, REMOVE_IF_VERSION -> event.previousVersion() != event.expectedVersion();
            case REPLACE, REMOVE, GET_AND_REMOVE -> event.previousVersion() == Version.NONE;
            case PUT, GET_AND_PUT, GET, CLEAR, DESTROY, TOUCH, EXPIRY -> false;
        };
        final boolean otherValue = event.observed() != Event.NOT_ASKED && !named.contains(event.observed());
        return againstCondition || otherValue ? Set.of() : named;
    }
}
