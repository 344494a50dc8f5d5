package org.rowankv.server.authority;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * All states that servers, store and clocks can reach within a bound, stepped by the classes that servers use. In none
 * of them two servers may answer reads, or a value is read that is known to be overwritten, or an acknowledged one is
 * lost.
 */
class AuthorityModelTest {
    /** Three members and three terms have millions of states; the shortest way to each known mistake is shorter. */
    private static final int STEPS_OF_THREE_TERMS = 11;

    static final int ALL_STEPS = Integer.MAX_VALUE;

    private static void assertSafe(Scope... scopes) {
        for (Scope scope : scopes) {
            assertSafe(scope, ALL_STEPS);
        }
    }

    static void assertSafe(Scope scope, int steps) {
        final StateSearch.Result result = StateSearch.search(scope, Mistake.NONE, steps);
        System.out.println(result);
        assertThat(result.violation()).as(result.toString()).isEmpty();
        assertThat(result.complete()).isEqualTo(steps == ALL_STEPS);
    }

    @Test
    void shouldLetOneOfTwoMembersAnswer() {
        assertSafe(Scope.of(2, 3).withCrashes(1), Scope.of(2, 2).withPrimary(1).withCrashes(1));
    }

    @Test
    void shouldLetOneOfThreeMembersAnswer() {
        assertSafe(Scope.of(3, 2), Scope.of(3, 2).withPrimary(1));
    }

    @Test
    void shouldLetOneOfThreeMembersAnswerInThreeTerms() {
        assertSafe(Scope.of(3, 3).withPrimary(1).excludingAtOnce(1), STEPS_OF_THREE_TERMS);
    }

    @Test
    void shouldLetOneAnswerWhileClocksDiffer() {
        assertSafe(Scope.of(2, 2).withSkew(1).withCrashes(1));
    }

    @Test
    void shouldLetOneAnswerWhileServersJoinAndReturn() {
        assertSafe(
                Scope.of(2, 3).withJoiners(0).withWrites(),
                Scope.of(1, 3).withJoiners(1).excludingAtOnce(1).withWrites());
    }

    @Test
    void shouldLoseNothingAcknowledged() {
        assertSafe(Scope.of(2, 3).withWrites(), Scope.of(3, 2).withWrites());
    }

    @Test
    void shouldEndReadsThatStoodStill() {
        assertSafe(Scope.of(2, 2).withReads());
    }

    @Test
    void shouldLetOneAnswerWhileShardsAreHandedOver() {
        assertSafe(
                Scope.of(2, 3).handingOver().withWrites(),
                Scope.of(2, 2).handingOver().withCrashes(1).withReads(),
                Scope.of(3, 2).handingOver().withWrites());
    }

    @Test
    void shouldLetOneAnswerWhileLeasesTravel() {
        assertSafe(Scope.of(2, 2).withPrimary(1).withLeasesInFlight());
    }

    @Test
    void shouldLetOneAnswerWhileVotesTravel() {
        assertSafe(Scope.of(2, 2).withVotesInFlight());
    }

    /** Without leaving out what the right code never uses again. */
    @Test
    void shouldLetOneAnswerInTheExactModel() {
        assertSafe(Scope.of(2, 2).withCrashes(1).exactly());
    }

    /** What leaves out states must not leave out ways to a violation. */
    @ParameterizedTest
    @EnumSource(names = {"CHECKS_BEFORE_ARRIVAL", "ACKNOWLEDGES_ONE_SHORT"})
    void shouldFindTheSameWithFewerStates(Mistake mistake) {
        final Scope scope = Scope.of(2, 2).withReads();
        final StateSearch.Result exact = StateSearch.search(scope.exactly(), mistake, ALL_STEPS);
        final StateSearch.Result fewer = StateSearch.search(scope, mistake, ALL_STEPS);
        assertThat(fewer.violation()).isEqualTo(exact.violation()).isNotEmpty();
        assertThat(fewer.steps()).hasSameSizeAs(exact.steps());
        assertThat(fewer.states()).isLessThan(exact.states());
    }

    static List<Object[]> mistakes() {
        final List<Object[]> found = new ArrayList<>();
        found.add(new Object[] {
            Mistake.STANDS_UNPREPARED_AND_FORGETS_PENDING_WRITE,
            Scope.of(2, 3).withJoiners(1),
            "servers 0 and 1 may both answer reads"
        });
        found.add(new Object[] {
            Mistake.FORGETS_PENDING_WRITE, Scope.of(2, 3).withJoiners(1), "servers 0 and 1 may both answer reads"
        });
        found.add(new Object[] {
            Mistake.CHECKS_BEFORE_ARRIVAL,
            Scope.of(2, 2).withReads(),
            "server 0 answers the value before, which was known to be overwritten"
        });
        found.add(new Object[] {
            Mistake.ACKNOWLEDGES_ONE_SHORT,
            Scope.of(3, 2).withWrites(),
            "the complete replica of server 2 lacks the acknowledged value"
        });
        found.add(new Object[] {
            Mistake.ROLLS_BACK,
            Scope.of(3, 3).excludingAtOnce(1).withWrites(),
            "the complete replica of server 1 lacks the acknowledged value"
        });
        found.add(new Object[] {
            Mistake.IGNORES_VOTE_VERSION, Scope.of(2, 2).exactly(), "servers 0 and 1 may both answer reads"
        });
        found.add(new Object[] {
            Mistake.OPENS_BEFORE_HAND_OVER,
            Scope.of(2, 2).handingOver().excludingAtOnce(0),
            "servers 0 and 1 may both answer reads"
        });
        found.add(new Object[] {
            Mistake.LEAVES_WITH_A_WRITE_BEGUN,
            Scope.of(2, 2).handingOver().excludingAtOnce(0).withWrites(),
            "the complete replica of server 0 lacks the acknowledged value"
        });
        return found;
    }

    /** The search can fail: it finds what each mistake around the classes breaks, and how. */
    @ParameterizedTest
    @MethodSource("mistakes")
    void shouldFindMistakesAroundTheClasses(Mistake mistake, Scope scope, String violation) {
        final StateSearch.Result result = StateSearch.search(scope, mistake, ALL_STEPS);
        System.out.println(mistake + ": " + result);
        assertThat(result.violation()).isEqualTo(violation);
        assertThat(result.steps()).isNotEmpty().doesNotContain("?").hasSize(result.depth());
    }

    /** From each state with a term left, some way leads to a server that serves in the newest term. */
    @Test
    void shouldAlwaysBeAbleToServeAgain() {
        for (Scope scope : List.of(
                Scope.of(2, 3).withCrashes(1),
                Scope.of(3, 2),
                Scope.of(2, 3).handingOver().excludingAtOnce(1))) {
            final StateSearch.Result result = StateSearch.searchDeadEnds(scope);
            System.out.println("dead ends: " + result);
            assertThat(result.violation()).as(result.toString()).isEmpty();
        }
    }
}
