package org.rowankv.sim.workload;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongConsumer;
import java.util.stream.Stream;
import org.rowankv.check.history.KeyAction;
import org.rowankv.check.history.Outcome;
import org.rowankv.protocol.Condition;
import org.rowankv.protocol.Status;

/** Number of executions of each kind of request, condition and outcome, among the simulation's event counters. */
public final class Counts {
    private static final List<KeyAction> NOT_ASKED = List.of(KeyAction.DESTROY, KeyAction.EXPIRY);

    private final WorkloadHost host;
    private final Map<KeyAction, LongConsumer> actions = new EnumMap<>(KeyAction.class);
    private final Map<Condition, LongConsumer> conditions = new EnumMap<>(Condition.class);
    private final Map<LifetimeKind, LongConsumer> lifetimes = new EnumMap<>(LifetimeKind.class);
    private final Map<Outcome, LongConsumer> outcomes = new EnumMap<>(Outcome.class);
    private final Map<Status, LongConsumer> statuses = new EnumMap<>(Status.class);

    Counts(WorkloadHost host) {
        this.host = host;
    }

    private static String of(KeyAction action) {
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

    /** The events that a full run must contain. */
    public static List<String> expected() {
        return Stream.of(
                        Stream.of(KeyAction.values())
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

    void count(KeyAction action, Condition condition, LifetimeKind lifetime, Outcome outcome, Status status) {
        actions.computeIfAbsent(action, one -> host.counter(of(one))).accept(1);
        conditions.computeIfAbsent(condition, one -> host.counter(of(one))).accept(1);
        lifetimes.computeIfAbsent(lifetime, one -> host.counter(of(one))).accept(1);
        outcomes.computeIfAbsent(outcome, one -> host.counter(of(one))).accept(1);
        statuses.computeIfAbsent(status, one -> host.counter("answer " + one)).accept(1);
    }
}
