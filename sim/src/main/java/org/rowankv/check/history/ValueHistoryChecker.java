package org.rowankv.check.history;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A {@link KeyHistoryChecker} for histories with values and without versions: decides whether a linearizable register
 * that applies each operation at most once can explain them. An operation that was applied twice shows as a value that
 * reappears after it was overwritten.
 *
 * <p>Does not find: anything across keys. Stateless between calls; safe for any thread.
 */
public final class ValueHistoryChecker {
    private final RegisterChecker registerChecker = new RegisterChecker(KeyHistoryChecker.DEFAULT_MAX_CONFIGURATIONS);

    /**
     * Checks a history that begins with a known state.
     *
     * @param initialValue value when the first operation was invoked, or {@link Event#ABSENT}
     * @param events with times of one clock
     * @return the anomalies; empty when the history is explained
     */
    public List<Anomaly> check(int key, long initialValue, List<ValueEvent> events) {
        final Set<Long> values = new HashSet<>();
        if (initialValue != Event.ABSENT) {
            values.add(initialValue);
        }
        events.stream().filter(event -> event.action().stores()).forEach(event -> values.add(event.written()));
        final List<Anomaly> anomalies = new ArrayList<>();
        final Map<Long, ValueEvent> withoutEffect = new HashMap<>();
        events.stream()
                .filter(event -> event.action().stores() && changedNothing(event))
                .forEach(event -> withoutEffect.put(event.written(), event));
        for (ValueEvent event : events) {
            if (event.observed() == Event.TORN
                    || event.observed() > Event.ABSENT && !values.contains(event.observed())) {
                anomalies.add(new Anomaly(key, "this value was never written to the key", line(event)));
            }
            final ValueEvent writer = withoutEffect.get(event.observed());
            if (writer != null) {
                anomalies.add(new Anomaly(
                        key,
                        "a write took effect although its reply said that it had not",
                        line(writer) + System.lineSeparator() + line(event)));
            }
        }
        if (!anomalies.isEmpty()) {
            return anomalies; // the search below would only repeat the same finding in more words
        }
        final List<Step> steps = new ArrayList<>(events.size());
        for (int i = 0; i < events.size(); i++) {
            addStep(steps, i, events.get(i), values);
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

    private static boolean changedNothing(ValueEvent event) {
        return switch (event.outcome()) {
            case REFUSED, NOT_FOUND, CONDITION_FAILED -> true;
            case DONE, UNKNOWN -> false;
        };
    }

    private static String line(ValueEvent event) {
        return "    caller " + event.caller() + ": " + event.question() + ": " + event.answer()
                + (event.observed() > 0 ? " (#" + event.observed() + ")" : "");
    }

    private static void addStep(List<Step> steps, int index, ValueEvent event, Set<Long> values) {
        final long sets = event.action().stores()
                ? event.written()
                : event.action() == ValueAction.GET ? Step.UNCHANGED : Event.ABSENT;
        switch (event.outcome()) {
            case REFUSED -> {}
            case NOT_FOUND -> steps.add(certain(index, Set.of(Event.ABSENT), Step.UNCHANGED, event));
            case CONDITION_FAILED -> steps.add(certain(index, whyFailed(event, values), Step.UNCHANGED, event));
            case DONE -> steps.add(certain(index, whereDone(event, values), sets, event));
            case UNKNOWN -> {
                if (event.action() != ValueAction.GET) {
                    steps.add(new Step(index, mayBeDoneIn(event), sets, 0, true, event.invokedNs(), Long.MAX_VALUE));
                }
            }
        }
    }

    private static Step certain(
            int index, @org.jspecify.annotations.Nullable Set<Long> accepts, long sets, ValueEvent event) {
        return new Step(index, accepts, sets, 0, false, event.invokedNs(), event.returnedNs());
    }

    /** The states allowed by a reply "done"; null: any. */
    private static @org.jspecify.annotations.Nullable Set<Long> whereDone(ValueEvent event, Set<Long> values) {
        return switch (event.action()) {
            case PUT -> null;
            case PUT_IF_ABSENT -> Set.of(Event.ABSENT);
            case REPLACE_IF_VALUE, REMOVE_IF_VALUE -> Set.of(event.expected());
            case REMOVE -> values;
            case GET, GET_AND_PUT, GET_AND_REMOVE, INVOKE -> Set.of(event.observed());
        };
    }

    private static @org.jspecify.annotations.Nullable Set<Long> mayBeDoneIn(ValueEvent event) {
        return event.action() == ValueAction.PUT_IF_ABSENT
                ? Set.of(Event.ABSENT)
                : event.action().compares() ? Set.of(event.expected()) : null;
    }

    /** The states in which the condition fails. */
    private static Set<Long> whyFailed(ValueEvent event, Set<Long> values) {
        final Set<Long> others = new HashSet<>(values);
        if (event.action().compares()) {
            others.add(Event.ABSENT);
            others.remove(event.expected());
        }
        return others;
    }
}
