package org.rowankv.check.history;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.rowankv.runtime.RandomSource;
import org.rowankv.runtime.SplittableRandomSource;

/** The search with its prunings, compared with an exhaustive search. */
class RegisterCheckerTest {
    private static final List<Set<Long>> ACCEPTED =
            List.of(Set.of(0L), Set.of(1L), Set.of(2L), Set.of(), Set.of(1L, 2L));

    /** Half of the steps that may make one have a version of their own. */
    private static long versionOf(RandomSource random, int index, boolean makesNone) {
        return makesNone || random.nextInt(2) == 0 ? 0 : 100L * (1 + random.nextInt(4)) + index;
    }

    private static Step randomStep(RandomSource random, int index, int optionalOneIn) {
        final Set<Long> accepts =
                random.nextInt(4) == 0 ? null : ACCEPTED.get(random.nextInt(random.nextInt(2) * 3 + 2));
        final long sets = random.nextInt(4) - 1L;
        final long invoked = random.nextInt(12);
        final boolean optional = random.nextInt(optionalOneIn) == 0;
        final long returned = optional ? Long.MAX_VALUE : invoked + random.nextInt(8);
        return new Step(
                index,
                accepts,
                sets,
                versionOf(random, index, optional || sets == Step.UNCHANGED),
                optional,
                invoked,
                returned);
    }

    private static boolean someOrderExplains(List<Step> left, long state, long lastVersion) {
        if (left.stream().allMatch(Step::optional)) {
            return true;
        }
        final long firstReturn = left.stream().mapToLong(Step::returnedNs).min().orElseThrow();
        for (Step step : left) {
            final boolean isInOrder = step.version() == 0 || step.version() > lastVersion;
            if (step.invokedNs() <= firstReturn && isInOrder && step.canBeTakenIn(state)) {
                final List<Step> rest = new ArrayList<>(left);
                rest.remove(step);
                if (someOrderExplains(rest, step.after(state), Math.max(lastVersion, step.version()))) {
                    return true;
                }
            }
        }
        return false;
    }

    @Test
    void shouldAgreeWithTryingEveryOrder() {
        final RandomSource random = new SplittableRandomSource(20250101);
        int explained = 0;
        final int histories = 60_000;
        for (int round = 0; round < histories; round++) {
            final List<Step> steps = new ArrayList<>();
            final int size = 1 + random.nextInt(7);
            for (int i = 0; i < size; i++) {
                steps.add(randomStep(random, i, 2 + round % 3));
            }
            final boolean expected = someOrderExplains(steps, 0, 0);
            explained += expected ? 1 : 0;
            assertThat(new RegisterChecker(100_000).check(steps, Set.of(0L)))
                    .as("round %d: %s", round, steps)
                    .isEqualTo(
                            expected ? RegisterChecker.Verdict.LINEARIZABLE : RegisterChecker.Verdict.NOT_LINEARIZABLE);
        }
        // Both verdicts must occur often for the comparison to be meaningful.
        assertThat(explained).isBetween(histories / 10, histories * 9 / 10);
    }
}
