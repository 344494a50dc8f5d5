package org.rowankv.check.history;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.rowankv.runtime.RandomSource;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.runtime.TestScale;

/** Chains and counters: possible histories are accepted, impossible ones detected. */
class ChainCheckerTest {
    private static final ChainLink ONE = ChainLink.NONE.next(11);
    private static final ChainLink TWO = ONE.next(12);
    private static final ChainLink THREE = TWO.next(13);

    private final List<ChainEvent> events = new ArrayList<>();

    private ChainEvent event(boolean extending, ChainLink link, Outcome outcome, long fromNs, long toNs) {
        return new ChainEvent(events.size(), extending, link, outcome, fromNs, toNs);
    }

    private void extend(ChainLink link, Outcome outcome, long fromNs, long toNs) {
        events.add(event(true, link, outcome, fromNs, toNs));
    }

    private void read(ChainLink link, long fromNs, long toNs) {
        events.add(event(false, link, Outcome.DONE, fromNs, toNs));
    }

    private ChainChecker.Verdict chain(ChainLink last) {
        return new ChainChecker().checkChain(1, ChainLink.NONE, List.of(), events, last);
    }

    private ChainChecker.Verdict counter(long last) {
        return new ChainChecker().checkCounter(1, ChainLink.NONE, List.of(), events, ChainLink.count(last));
    }

    private static void isWrong(ChainChecker.Verdict verdict, String why) {
        assertThat(verdict.anomalies()).isNotEmpty();
        assertThat(verdict.anomalies().toString()).contains(why);
    }

    @Test
    void shouldAcceptAChainWhoseValuesFollowEachOther() {
        read(ChainLink.NONE, 0, 1);
        extend(ONE, Outcome.DONE, 2, 3);
        extend(TWO, Outcome.UNKNOWN, 4, 5);
        extend(ONE.next(99), Outcome.CONDITION_FAILED, 5, 9);
        extend(ONE.next(98), Outcome.REFUSED, 5, 9);
        read(TWO, 6, 7);
        extend(THREE, Outcome.DONE, 8, 9);
        read(THREE, 10, 11);
        assertThat(chain(THREE).anomalies()).isEmpty();
        assertThat(chain(THREE).pending()).isEmpty();
    }

    @Test
    void shouldFindAnAcknowledgedWriteThatWasLost() {
        extend(ONE, Outcome.DONE, 0, 1);
        extend(ONE.next(99), Outcome.DONE, 2, 3);
        extend(TWO, Outcome.DONE, 2, 3);
        isWrong(chain(TWO), "not among those");
    }

    @Test
    void shouldFindAWriteThatWasAppliedTwice() {
        extend(ONE, Outcome.DONE, 0, 1);
        extend(TWO, Outcome.DONE, 2, 3);
        isWrong(chain(ONE), "not among those");
        final ChainChecker.Verdict later = new ChainChecker().checkChain(1, TWO, List.of(), List.of(), ONE);
        isWrong(later, "back");
    }

    @Test
    void shouldFindAWriteThatWasRefusedAndIsThere() {
        extend(ONE, Outcome.REFUSED, 0, 1);
        isWrong(chain(ONE), "although its reply said that it had not");
        isWrong(chain(TWO), "no write made");
    }

    @Test
    void shouldFindAReadOfAnOldValue() {
        extend(ONE, Outcome.DONE, 0, 1);
        extend(TWO, Outcome.DONE, 2, 3);
        read(ONE, 4, 5);
        isWrong(chain(TWO), "already");
    }

    @Test
    void shouldFindAReadOfWhatIsNotWrittenYet() {
        read(ONE, 0, 1);
        extend(ONE, Outcome.DONE, 2, 3);
        isWrong(chain(ONE), "before its write began");
    }

    @Test
    void shouldFindACompareAndSetThatFailedThoughItHeld() {
        extend(ONE, Outcome.CONDITION_FAILED, 0, 1);
        isWrong(chain(ChainLink.NONE), "no other had been made");
    }

    @Test
    void shouldKeepAWriteOfUnknownOutcomeWhileItMayTakeEffect() {
        extend(ONE, Outcome.DONE, 0, 1);
        extend(TWO, Outcome.UNKNOWN, 2, 3);
        final ChainChecker.Verdict first = chain(ONE);
        assertThat(first.anomalies()).isEmpty();
        assertThat(first.pending()).containsExactly(events.get(1));
        final ChainChecker.Verdict second = new ChainChecker().checkChain(1, ONE, first.pending(), List.of(), TWO);
        assertThat(second.anomalies()).isEmpty();
        assertThat(second.pending()).isEmpty();
        isWrong(new ChainChecker().checkChain(1, ONE, List.of(), List.of(), TWO), "no write made");
    }

    @Test
    void shouldAcceptACounterWithAsManyGapsAsUnknownOutcomes() {
        extend(ChainLink.count(1), Outcome.DONE, 0, 9);
        extend(ChainLink.NONE, Outcome.UNKNOWN, 1, 2);
        extend(ChainLink.NONE, Outcome.UNKNOWN, 1, 2);
        extend(ChainLink.NONE, Outcome.REFUSED, 1, 2);
        extend(ChainLink.count(3), Outcome.DONE, 5, 9);
        read(ChainLink.count(2), 3, 4);
        assertThat(counter(3).anomalies()).isEmpty();
        assertThat(counter(3).pending()).hasSize(1);
        assertThat(counter(4).pending()).isEmpty();
        isWrong(counter(5), "of its increments 2 are acknowledged and 2 of unknown outcome");
    }

    @Test
    void shouldFindAnIncrementThatWasLost() {
        extend(ChainLink.count(1), Outcome.DONE, 0, 9);
        extend(ChainLink.count(1), Outcome.DONE, 0, 9);
        isWrong(counter(1), "two increments made the same number");
        events.clear();
        extend(ChainLink.count(1), Outcome.DONE, 0, 1);
        isWrong(counter(0), "by 1 acknowledged");
    }

    @Test
    void shouldFindAnIncrementThatWasAppliedTwice() {
        extend(ChainLink.count(2), Outcome.DONE, 0, 1);
        isWrong(counter(2), "of its increments 1 are acknowledged and 0 of unknown outcome");
    }

    @Test
    void shouldReadTheLinesThatItWrites() {
        final ChainEvent one = event(true, TWO, Outcome.UNKNOWN, 2, 3);
        assertThat(ChainEvent.ofLine(one.toLine())).isEqualTo(one);
        assertThat(ChainLink.ofText(TWO.toText())).isEqualTo(TWO);
        assertThat(ChainLink.ofText("1 2")).isEqualTo(ChainLink.TORN);
        assertThat(ChainLink.ofText("1 2 x")).isEqualTo(ChainLink.TORN);
    }

    // --- comparison with an exhaustive search ---

    /** Whether some order of the events, with or without those of unknown outcome, leads to the last value. */
    private static boolean someOrderExplains(List<ChainEvent> left, ChainLink state, ChainLink last) {
        if (left.stream().allMatch(event -> event.outcome() == Outcome.UNKNOWN) && state.equals(last)) {
            return true;
        }
        final long firstReturn = left.stream()
                .filter(event -> event.outcome() != Outcome.UNKNOWN)
                .mapToLong(ChainEvent::returnedNs)
                .min()
                .orElse(Long.MAX_VALUE);
        for (ChainEvent event : left) {
            final boolean extends1 = event.extending() && event.outcome() != Outcome.CONDITION_FAILED;
            final boolean holds = extends1
                    ? event.link().number() == state.number() + 1
                            && event.link().former() == state.id()
                    : event.extending() ? state.number() >= event.link().number() : state.equals(event.link());
            if (event.invokedNs() <= firstReturn && holds) {
                final List<ChainEvent> rest = new ArrayList<>(left);
                rest.remove(event);
                if (someOrderExplains(rest, extends1 ? event.link() : state, last)) {
                    return true;
                }
            }
        }
        return false;
    }

    /** A valid history of a chain, in which one event may then be changed. */
    private static List<ChainEvent> randomHistory(RandomSource random) {
        final List<ChainEvent> history = new ArrayList<>();
        ChainLink state = ChainLink.NONE;
        long nowNs = 0;
        for (int i = 0; i < 2 + random.nextInt(5); i++) {
            final long pointNs = nowNs += 1 + random.nextInt(3);
            final long fromNs = pointNs - random.nextInt(5);
            final long toNs = pointNs + random.nextInt(5);
            final Outcome outcome = random.nextInt(4) == 0 ? Outcome.UNKNOWN : Outcome.DONE;
            if (random.nextInt(3) == 0) {
                history.add(new ChainEvent(i, false, state, Outcome.DONE, fromNs, toNs));
            } else if (state.number() > 0 && random.nextInt(4) == 0) {
                history.add(new ChainEvent(
                        i,
                        true,
                        new ChainLink(state.number(), 50 + i, state.former()),
                        Outcome.CONDITION_FAILED,
                        fromNs,
                        toNs));
            } else {
                final ChainLink next = state.next(100 + i);
                history.add(new ChainEvent(i, true, next, outcome, fromNs, toNs));
                if (outcome == Outcome.DONE || random.nextInt(2) == 0) {
                    state = next;
                }
            }
        }
        if (random.nextInt(2) == 0) {
            final int index = random.nextInt(history.size());
            final ChainEvent old = history.get(index);
            final long shift = random.nextInt(13) - 6L;
            final ChainLink other = history.get(random.nextInt(history.size())).link();
            final ChainLink link = random.nextInt(3) == 0 && other.number() > 0 ? other : old.link();
            history.set(
                    index,
                    new ChainEvent(
                            old.caller(),
                            old.extending(),
                            old.extending()
                                    ? new ChainLink(link.number(), old.link().id(), link.former())
                                    : link,
                            old.outcome(),
                            old.invokedNs() + shift,
                            old.returnedNs() + shift));
        }
        return history;
    }

    @Test
    void shouldAgreeWithTryingEveryOrder() {
        final RandomSource random = new SplittableRandomSource(20261124);
        int explained = 0;
        final int histories = TestScale.of(20_000, 200_000);
        for (int round = 0; round < histories; round++) {
            final List<ChainEvent> history = randomHistory(random);
            final List<ChainLink> links = new ArrayList<>(List.of(ChainLink.NONE));
            history.stream().filter(ChainEvent::extending).forEach(event -> links.add(event.link()));
            Collections.reverse(links);
            final ChainLink last = links.get(random.nextInt(Math.min(2, links.size())));
            final List<ChainEvent> withRead = new ArrayList<>(history);
            withRead.add(new ChainEvent(-1, false, last, Outcome.DONE, 1_000, 1_001));
            final boolean expected = someOrderExplains(withRead, ChainLink.NONE, last);
            explained += expected ? 1 : 0;
            assertThat(new ChainChecker()
                            .checkChain(1, ChainLink.NONE, List.of(), withRead, last)
                            .anomalies()
                            .isEmpty())
                    .as("round %d: %s, then %s", round, withRead, last)
                    .isEqualTo(expected);
        }
        assertThat(explained).isBetween(histories / 10, histories * 9 / 10);
    }
}
