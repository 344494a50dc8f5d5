package org.rowankv.check.history;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Linearizability checker of one register: decides whether the steps have an order that respects real time and the
 * versions that they made, and explains every reply. It is the search of Wing and Gong with Lowe's memory of
 * configurations (the set of steps taken, the state).
 *
 * <p>Prunings, each of which preserves the verdict. Among certain steps, one that changes nothing is taken as soon as
 * possible. Optional steps are tried last, since an order needs few of them:
 * <ul>
 *   <li>one whose value no step reads is omitted;
 *   <li>of equivalent ones only the first is tried;
 *   <li>none is taken that leaves the state unchanged, or whose value the next step overwrites unread;
 *   <li>a configuration is pruned when an earlier one has the same certain steps and state, and a subset of its optional steps: every continuation of this one is one of that one.
 * </ul>
 *
 * <p>Memory is bounded: past {@code maxConfigurations} the verdict is UNDECIDED. Confined to one thread.
 */
final class RegisterChecker {
    enum Verdict {
        LINEARIZABLE,
        NOT_LINEARIZABLE,
        /** The search reached its memory bound. */
        UNDECIDED
    }

    private final int maxConfigurations;

    RegisterChecker(int maxConfigurations) {
        this.maxConfigurations = maxConfigurations;
    }

    /** The verdict for a register that is in any one of the initial states when the steps begin. */
    Verdict check(List<Step> steps, Set<Long> initialStates) {
        Verdict verdict = Verdict.NOT_LINEARIZABLE;
        final List<Step> relevant = withoutIrrelevant(steps);
        for (long initial : initialStates) {
            final Verdict one = new Search(relevant).run(initial);
            if (one == Verdict.LINEARIZABLE) {
                return one;
            }
            if (one == Verdict.UNDECIDED) {
                verdict = one;
            }
        }
        return verdict;
    }

    private static List<Step> withoutIrrelevant(List<Step> steps) {
        final Set<Long> accepted = new HashSet<>();
        for (Step step : steps) {
            if (step.accepts() != null) {
                accepted.addAll(step.accepts());
            }
        }
        final List<Step> relevant = new ArrayList<>(steps.size());
        for (Step step : steps) {
            final boolean saysNothing = !step.changes() && (step.accepts() == null || step.optional());
            final boolean unseen = step.optional() && !accepted.contains(step.sets());
            if (!saysNothing && !unseen) {
                relevant.add(step);
            }
        }
        return relevant;
    }

    /** An entry in the list of invocations and returns, ordered by time. */
    private static final class Place {
        final int step;
        final boolean isReturn;
        final long timeNs;
        Place before = this;
        Place after = this;
        /** Of an invocation: the entry of its return; null for optional steps. */
        @Nullable
        Place returned;

        Place(int step, boolean isReturn, long timeNs) {
            this.step = step;
            this.isReturn = isReturn;
            this.timeNs = timeNs;
        }

        void unlink() {
            before.after = after;
            after.before = before;
        }

        void relink() {
            before.after = this;
            after.before = this;
        }
    }

    private record Taken(Place place, long stateBefore) {}

    /** The set of certain steps taken and the state they lead to, possibly with optional ones. */
    private static final class Configuration {
        private final long[] certain;
        private final long state;

        Configuration(long[] certain, long state) {
            this.certain = certain;
            this.state = state;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Configuration that && state == that.state && Arrays.equals(certain, that.certain);
        }

        @Override
        public int hashCode() {
            return 31 * Arrays.hashCode(certain) + Long.hashCode(state);
        }
    }

    private final class Search {
        private final List<Step> steps;
        private final int[] twinBefore;
        private final int[] versionBefore;
        private final Place head = new Place(-1, true, 0);
        private final long[] certainTaken;
        private final long[] optionalTaken;
        /** For each configuration the sets of optional steps that lead to it; none is a subset of another. */
        private final Map<Configuration, List<long[]>> seen = new HashMap<>();

        private final Deque<Taken> path = new ArrayDeque<>();
        private int certainLeft;
        private int configurations;

        Search(List<Step> steps) {
            this.steps = steps;
            this.certainTaken = new long[(steps.size() + 63) >>> 6];
            this.optionalTaken = new long[certainTaken.length];
            this.twinBefore = twins();
            this.versionBefore = versions();
            layOut();
        }

        /** For each optional step the preceding equivalent optional step, or −1. */
        private int[] twins() {
            record Effect(@Nullable Set<Long> accepts, long sets) {}
            final int[] result = new int[steps.size()];
            final Integer[] order = new Integer[steps.size()];
            Arrays.setAll(order, i -> i);
            Arrays.sort(order, Comparator.comparingLong(i -> steps.get(i).invokedNs()));
            final Map<Effect, Integer> last = new HashMap<>();
            for (int i : order) {
                result[i] = -1;
                final Step step = steps.get(i);
                if (step.optional()) {
                    final Integer twin = last.put(new Effect(step.accepts(), step.sets()), i);
                    result[i] = twin == null ? -1 : twin;
                }
            }
            return result;
        }

        /** For each certain step that made a version the one that made the preceding version, or −1. */
        private int[] versions() {
            final int[] result = new int[steps.size()];
            Arrays.fill(result, -1);
            int last = -1;
            for (int i : IntStream.range(0, steps.size())
                    .filter(i -> steps.get(i).version() != 0)
                    .boxed()
                    .sorted(Comparator.comparingLong(i -> steps.get(i).version()))
                    .toList()) {
                result[i] = last;
                last = i;
            }
            return result;
        }

        private void layOut() {
            final List<Place> places = new ArrayList<>(2 * steps.size());
            for (int i = 0; i < steps.size(); i++) {
                final Step step = steps.get(i);
                final Place invoked = new Place(i, false, step.invokedNs());
                places.add(invoked);
                if (!step.optional()) {
                    invoked.returned = new Place(i, true, step.returnedNs());
                    places.add(invoked.returned);
                    certainLeft++;
                }
            }
            // At equal times invocations sort first: equal times count as concurrent.
            places.sort(Comparator.<Place>comparingLong(place -> place.timeNs).thenComparing(place -> place.isReturn));
            Place last = head;
            for (Place place : places) {
                place.before = last;
                last.after = place;
                last = place;
            }
            last.after = head;
            head.before = last;
        }

        Verdict run(long initial) {
            long state = initial;
            Place place = head.after;
            boolean takesOptional = false;
            while (certainLeft > 0) {
                final long next = tryToTake(place, state, takesOptional);
                if (next != Step.UNCHANGED) {
                    if (configurations > maxConfigurations) {
                        return Verdict.UNDECIDED;
                    }
                    path.push(new Taken(place, state));
                    state = next;
                    place = head.after;
                    takesOptional = false;
                } else if (!place.isReturn) {
                    place = place.after;
                } else if (!takesOptional) {
                    place = head.after;
                    takesOptional = true;
                } else {
                    // No step can precede this return: backtrack to the last choice.
                    Taken undone;
                    do {
                        if (path.isEmpty()) {
                            return Verdict.NOT_LINEARIZABLE;
                        }
                        undone = path.pop();
                        undo(undone.place());
                    } while (!steps.get(undone.place().step).changes());
                    state = undone.stateBefore();
                    place = undone.place().after;
                    takesOptional = steps.get(undone.place().step).optional();
                }
            }
            return Verdict.LINEARIZABLE;
        }

        /** Takes the step invoked there, if that leads to a new configuration; otherwise returns UNCHANGED. */
        private long tryToTake(Place place, long state, boolean takesOptional) {
            if (place.isReturn) {
                return Step.UNCHANGED;
            }
            final int index = place.step;
            final Step step = steps.get(index);
            if (step.optional() != takesOptional
                    || isBehind(versionBefore[index])
                    || !step.canBeTakenIn(state)
                    || isIdle(step, index, state)) {
                return Step.UNCHANGED;
            }
            final long[] taken = takesOptional ? optionalTaken : certainTaken;
            final long next = step.after(state);
            taken[index >>> 6] |= 1L << index;
            if (!isNew(next)) {
                taken[index >>> 6] &= ~(1L << index);
                return Step.UNCHANGED;
            }
            place.unlink();
            if (place.returned != null) {
                place.returned.unlink();
                certainLeft--;
            }
            return next;
        }

        /** Whether that certain step, which must precede, has not been taken; −1: none must. */
        private boolean isBehind(int before) {
            return before >= 0 && (certainTaken[before >>> 6] & 1L << before) == 0;
        }

        /** Whether another order does without this step, or equals this one up to equivalent steps. */
        private boolean isIdle(Step step, int index, long state) {
            final Taken last = path.peek();
            final boolean lastWasForNothing = step.accepts() == null
                    && last != null
                    && steps.get(last.place().step).optional();
            final int twin = twinBefore[index];
            return lastWasForNothing || step.optional() && step.after(state) == state || twin >= 0 && !isTaken(twin);
        }

        /** Records the current configuration; false if it was recorded with a subset of the optional steps. */
        private boolean isNew(long state) {
            final List<long[]> known =
                    seen.computeIfAbsent(new Configuration(certainTaken.clone(), state), unused -> new ArrayList<>(1));
            for (long[] each : known) {
                if (isPartOf(each, optionalTaken)) {
                    return false;
                }
            }
            known.removeIf(each -> isPartOf(optionalTaken, each));
            known.add(optionalTaken.clone());
            configurations++;
            return true;
        }

        private void undo(Place place) {
            final long[] taken = steps.get(place.step).optional() ? optionalTaken : certainTaken;
            taken[place.step >>> 6] &= ~(1L << place.step);
            if (place.returned != null) {
                place.returned.relink();
                certainLeft++;
            }
            place.relink();
        }

        private boolean isTaken(int optional) {
            return (optionalTaken[optional >>> 6] & 1L << optional) != 0;
        }
    }

    private static boolean isPartOf(long[] some, long[] all) {
        for (int i = 0; i < some.length; i++) {
            if ((some[i] & ~all[i]) != 0) {
                return false;
            }
        }
        return true;
    }
}
