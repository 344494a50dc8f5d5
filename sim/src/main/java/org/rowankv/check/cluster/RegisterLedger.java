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
 * Checker state of one register between windows: its value, and the operations of unknown outcome that may still take
 * effect. Each such operation is one more possible explanation of a reply. It is dropped once its effect is observed,
 * or once it expects a value that cannot recur. Confined to one thread.
 */
final class RegisterLedger {
    private final ValueHistoryChecker checker = new ValueHistoryChecker();
    private final int slot;
    private long state = Event.ABSENT;
    private List<ValueEvent> pending = List.of();

    RegisterLedger(int slot) {
        this.slot = slot;
    }

    /** Number of operations that may still take effect. */
    int pending() {
        return pending.size();
    }

    /**
     * Checks the operations since the last pause.
     *
     * @param read the checker's own read, after all events
     */
    List<Anomaly> check(List<ValueEvent> events, ValueEvent read) {
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
