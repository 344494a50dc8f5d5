package org.rowankv.sim.workload;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.rowankv.check.history.Action;
import org.rowankv.check.history.Outcome;
import org.rowankv.protocol.Condition;
import org.rowankv.protocol.Status;
import org.rowankv.sim.Happenings;

/** How often each kind of request, condition and outcome there was, among what happened. */
public final class Counts {
    private static final List<Action> NOT_ASKED = List.of(Action.DESTROY, Action.EXPIRY);

    private final Happenings happenings;
    private final Map<Action, Happenings.Counter> actions = new EnumMap<>(Action.class);
    private final Map<Condition, Happenings.Counter> conditions = new EnumMap<>(Condition.class);
    private final Map<LifetimeKind, Happenings.Counter> lifetimes = new EnumMap<>(LifetimeKind.class);
    private final Map<Outcome, Happenings.Counter> outcomes = new EnumMap<>(Outcome.class);
    private final Map<Status, Happenings.Counter> statuses = new EnumMap<>(Status.class);

    Counts(Happenings happenings) {
        this.happenings = happenings;
    }

    private static String of(Action action) {
        return "operation " + action.label();
    }

    private static String of(Condition condition) {
        return "condition " + condition;
    }

    private static String of(LifetimeKind lifetime) {
        return "lifetime " + (lifetime == LifetimeKind.NONE ? "not named" : lifetime.label());
    }

    private static String of(Outcome outcome) {
        return "outcome " + outcome;
    }

    /** What must have happened in a full run. */
    public static List<String> expected() {
        return Stream.of(
                        Stream.of(Action.values())
                                .filter(action -> !NOT_ASKED.contains(action))
                                .map(Counts::of),
                        Stream.of(Condition.values()).map(Counts::of),
                        Stream.of(LifetimeKind.values()).map(Counts::of),
                        Stream.of(Outcome.values()).map(Counts::of),
                        Stream.of(
                                "caches created",
                                "caches destroyed",
                                "answer UNKNOWN_CACHE",
                                "former caches asked",
                                "evictions",
                                "expiries",
                                "objects that a write ended at once",
                                "lifetimes that were kept",
                                "accesses that gave a lifetime",
                                "writes that nothing had come between"))
                .flatMap(names -> names)
                .toList();
    }

    void count(Action action, Condition condition, LifetimeKind lifetime, Outcome outcome, Status status) {
        actions.computeIfAbsent(action, one -> happenings.counter(of(one))).add(1);
        conditions
                .computeIfAbsent(condition, one -> happenings.counter(of(one)))
                .add(1);
        lifetimes.computeIfAbsent(lifetime, one -> happenings.counter(of(one))).add(1);
        outcomes.computeIfAbsent(outcome, one -> happenings.counter(of(one))).add(1);
        statuses.computeIfAbsent(status, one -> happenings.counter("answer " + one))
                .add(1);
    }
}
