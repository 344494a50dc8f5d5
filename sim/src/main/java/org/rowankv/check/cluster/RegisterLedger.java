package org.rowankv.check.cluster;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.rowankv.check.history.Anomaly;
import org.rowankv.check.history.Event;
import org.rowankv.check.history.Outcome;
import org.rowankv.check.history.ValueAction;
import org.rowankv.check.history.ValueEvent;
import org.rowankv.check.history.ValueHistoryChecker;

/**
 * What is known of one register at a rest: its value, and the operations of unknown outcome that may still take effect. Such an
 * operation is one more way to explain an answer; one that is known to have happened is none any more, and so is one that waits for
 * a value which does not come back. For one thread.
 */
final class RegisterLedger {
    private final ValueHistoryChecker checker = new ValueHistoryChecker();
    private final int slot;
    private long state = Event.ABSENT;
    private List<ValueEvent> pending = List.of();

    RegisterLedger(int slot) {
        this.slot = slot;
    }

    /** Operations that may still take effect. */
    int pending() {
        return pending.size();
    }

    /**
     * Judges what has happened since the last rest.
     *
     * @param read the judge's, after all events
     */
    List<Anomaly> judge(List<ValueEvent> events, ValueEvent read) {
        final List<ValueEvent> open = new ArrayList<>(pending);
        final List<ValueEvent> history = new ArrayList<>(pending);
        for (ValueEvent event : events) {
            if (event.outcome() == Outcome.UNKNOWN && event.action() != ValueAction.GET) {
                open.add(event);
            }
            history.add(event);
        }
        history.add(read);
        final List<Anomaly> anomalies = checker.check(slot, state, history);
        state = read.outcome() == Outcome.NOT_FOUND ? Event.ABSENT : read.observed();
        pending = stillOpen(open, history);
        return anomalies;
    }

    private List<ValueEvent> stillOpen(List<ValueEvent> open, List<ValueEvent> history) {
        final Set<Long> met = new HashSet<>();
        for (ValueEvent event : history) {
            if (event.outcome() == Outcome.DONE) {
                met.add(event.observed());
                if (event.action().compares()) {
                    met.add(event.expected());
                }
            }
        }
        final List<ValueEvent> left = new ArrayList<>(open);
        left.removeIf(event -> event.action().stores() && met.contains(event.written()));
        final Set<Long> toCome = new HashSet<>(Set.of(state));
        left.stream().filter(event -> event.action().stores()).forEach(event -> toCome.add(event.written()));
        left.removeIf(event -> event.action().compares() && !toCome.contains(event.expected()));
        return left;
    }
}
