package org.rowankv.check.history;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.IntPredicate;
import java.util.stream.LongStream;

/**
 * Reduction of an inexplicable history to a short window that is inexplicable too: first the shortest prefix, then the
 * shortest suffix of that prefix, for any initial state. Both cuts only weaken the constraints (a cut operation becomes
 * optional), so the remaining window is an anomaly by itself.
 */
final class OffendingWindow {
    private static final long SOMETHING_ELSE = Long.MAX_VALUE;

    private final RegisterChecker checker;
    private final List<? extends ReportedOperation> events;
    private final List<Step> steps;
    private final Set<Long> initialStates;

    OffendingWindow(
            RegisterChecker checker, List<? extends ReportedOperation> events, List<Step> steps, long initialState) {
        this.checker = checker;
        this.events = events;
        this.steps = steps;
        this.initialStates = Set.of(initialState);
    }

    /** The window as text, one operation per line in order of invocation; the last to return is marked. */
    String describe() {
        final long[] ends = returns(steps);
        final int end = first(ends.length, i -> fails(until(ends[i]), initialStates));
        if (end == ends.length) {
            return "";
        }
        final List<Step> prefix = until(ends[end]);
        final Set<Long> anyState = new HashSet<>(initialStates);
        anyState.add(SOMETHING_ELSE);
        anyState.add(Event.ABSENT);
        prefix.stream().filter(step -> step.accepts() != null).forEach(step -> anyState.addAll(step.accepts()));
        final long[] starts = returns(prefix);
        // The first cut at which it can be explained; the preceding one is the latest at which it cannot.
        final int start = first(starts.length, i -> !fails(from(prefix, starts[i]), anyState));
        final List<Step> window = start == 0 ? prefix : from(prefix, starts[start - 1]);
        return table(window, ends[end]);
    }

    private boolean fails(List<Step> some, Set<Long> states) {
        return checker.check(some, states) == RegisterChecker.Verdict.NOT_LINEARIZABLE;
    }

    private static int first(int count, IntPredicate holds) {
        int low = 0;
        int high = count;
        while (low < high) {
            final int middle = (low + high) >>> 1;
            if (holds.test(middle)) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        return low;
    }

    private static long[] returns(List<Step> some) {
        return some.stream()
                .filter(step -> !step.optional())
                .flatMapToLong(step -> LongStream.of(step.returnedNs()))
                .sorted()
                .distinct()
                .toArray();
    }

    private List<Step> until(long timeNs) {
        final List<Step> result = new ArrayList<>();
        for (Step step : steps) {
            if (step.invokedNs() <= timeNs) {
                result.add(step.returnedNs() > timeNs ? step.cutOff() : step);
            }
        }
        return result;
    }

    private static List<Step> from(List<Step> some, long timeNs) {
        final List<Step> result = new ArrayList<>();
        for (Step step : some) {
            if (step.returnedNs() >= timeNs) {
                result.add(step.invokedNs() < timeNs ? step.cutOn() : step);
            }
        }
        return result;
    }

    private String table(List<Step> window, long lastReturnNs) {
        final List<? extends ReportedOperation> shown = window.stream()
                .map(step -> events.get(step.event()))
                .filter(event -> event.outcome() != Outcome.REFUSED)
                .sorted((a, b) -> Long.compare(a.invokedNs(), b.invokedNs()))
                .toList();
        final long zero = shown.get(0).invokedNs();
        final StringBuilder text = new StringBuilder(
                String.format(Locale.ROOT, "    caller  invoked us  returned us  %-34s reply%n", "operation"));
        for (ReportedOperation event : shown) {
            final boolean last = event.outcome() != Outcome.UNKNOWN && event.returnedNs() == lastReturnNs;
            text.append(String.format(
                    Locale.ROOT,
                    "  %s %6s %11.1f %12s  %-34s %s%n",
                    last ? ">" : " ",
                    event.caller() < 0 ? "check" : String.valueOf(event.caller()),
                    (event.invokedNs() - zero) / 1e3,
                    event.outcome() == Outcome.UNKNOWN
                            ? "-"
                            : String.format(Locale.ROOT, "%.1f", (event.returnedNs() - zero) / 1e3),
                    event.question(),
                    event.answer()));
        }
        return text.toString();
    }
}
