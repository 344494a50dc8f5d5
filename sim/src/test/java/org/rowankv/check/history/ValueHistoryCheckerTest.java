package org.rowankv.check.history;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Histories without versions: possible ones are accepted, impossible ones detected. */
class ValueHistoryCheckerTest {
    private final List<ValueEvent> events = new ArrayList<>();

    private void record(
            ValueAction action, long written, long expected, Outcome outcome, long observed, long from, long to) {
        events.add(new ValueEvent(events.size(), action, written, expected, outcome, observed, from, to));
    }

    private void put(long value, long from, long to) {
        record(ValueAction.PUT, value, 0, Outcome.DONE, Event.NOT_ASKED, from, to);
    }

    private void read(long value, long from, long to) {
        final Outcome outcome = value == 0 ? Outcome.NOT_FOUND : Outcome.DONE;
        record(ValueAction.GET, 0, 0, outcome, value == 0 ? Event.NOT_ASKED : value, from, to);
    }

    private List<Anomaly> anomalies() {
        return new ValueHistoryChecker().check(1, Event.ABSENT, events);
    }

    private void isFine() {
        assertThat(anomalies()).isEmpty();
    }

    private void isWrong(String why) {
        assertThat(anomalies()).hasSize(1);
        assertThat(anomalies().get(0).toString()).contains(why);
    }

    @Test
    void shouldAcceptOperationsOneAfterTheOther() {
        read(0, 0, 1);
        put(5, 2, 3);
        record(ValueAction.GET_AND_PUT, 6, 0, Outcome.DONE, 5, 4, 5);
        record(ValueAction.REPLACE_IF_VALUE, 7, 6, Outcome.DONE, Event.NOT_ASKED, 6, 7);
        record(ValueAction.REPLACE_IF_VALUE, 8, 6, Outcome.CONDITION_FAILED, Event.NOT_ASKED, 8, 9);
        record(ValueAction.PUT_IF_ABSENT, 9, 0, Outcome.CONDITION_FAILED, Event.NOT_ASKED, 10, 11);
        record(ValueAction.INVOKE, 10, 0, Outcome.DONE, 7, 12, 13);
        record(ValueAction.REMOVE_IF_VALUE, 0, 7, Outcome.CONDITION_FAILED, Event.NOT_ASKED, 14, 15);
        record(ValueAction.REMOVE_IF_VALUE, 0, 10, Outcome.DONE, Event.NOT_ASKED, 16, 17);
        record(ValueAction.REMOVE, 0, 0, Outcome.NOT_FOUND, Event.NOT_ASKED, 18, 19);
        record(ValueAction.PUT_IF_ABSENT, 11, 0, Outcome.DONE, Event.NOT_ASKED, 20, 21);
        record(ValueAction.GET_AND_REMOVE, 0, 0, Outcome.DONE, 11, 22, 23);
        put(12, 24, 25);
        record(ValueAction.REMOVE, 0, 0, Outcome.DONE, Event.NOT_ASKED, 26, 27);
        read(0, 28, 29);
        isFine();
    }

    @Test
    void shouldFindAWriteThatWasAppliedTwice() {
        put(5, 0, 1);
        put(6, 2, 3);
        read(6, 4, 5);
        read(5, 6, 7);
        isWrong("no order");
    }

    @Test
    void shouldFindARemovalThatWasAppliedTwice() {
        put(5, 0, 1);
        record(ValueAction.REMOVE, 0, 0, Outcome.DONE, Event.NOT_ASKED, 2, 3);
        put(6, 4, 5);
        read(0, 6, 7);
        isWrong("no order");
    }

    @Test
    void shouldFindAnAcknowledgedWriteThatWasLost() {
        put(5, 0, 1);
        put(6, 2, 3);
        read(5, 4, 5);
        isWrong("no order");
    }

    @Test
    void shouldFindACompareAndSetAgainstItsCondition() {
        put(5, 0, 1);
        record(ValueAction.REPLACE_IF_VALUE, 6, 4, Outcome.DONE, Event.NOT_ASKED, 2, 3);
        isWrong("no order");
    }

    @Test
    void shouldFindACompareAndSetThatFailedThoughItHeld() {
        put(5, 0, 1);
        record(ValueAction.REPLACE_IF_VALUE, 6, 5, Outcome.CONDITION_FAILED, Event.NOT_ASKED, 2, 3);
        isWrong("no order");
    }

    @Test
    void shouldFindTwoProcessorsThatMetTheSameValue() {
        put(5, 0, 1);
        record(ValueAction.INVOKE, 6, 0, Outcome.DONE, 5, 2, 9);
        record(ValueAction.INVOKE, 7, 0, Outcome.DONE, 5, 2, 9);
        isWrong("no order");
    }

    @Test
    void shouldFindValuesThatNobodyWrote() {
        read(5, 0, 1);
        isWrong("never written");
        events.clear();
        read(Event.TORN, 0, 1);
        isWrong("never written");
    }

    @Test
    void shouldFindAWriteThatWasRefusedAndIsThere() {
        record(ValueAction.PUT, 5, 0, Outcome.REFUSED, Event.NOT_ASKED, 0, 1);
        read(5, 2, 3);
        isWrong("although its reply said that it had not");
    }

    @Test
    void shouldLetAnUnknownOutcomeBeEitherButNotBoth() {
        record(ValueAction.PUT, 5, 0, Outcome.UNKNOWN, Event.NOT_ASKED, 0, 0);
        read(0, 2, 3);
        read(5, 4, 5);
        isFine();
        read(0, 6, 7);
        isWrong("no order");
    }

    @Test
    void shouldNotOrderWhatOverlaps() {
        put(5, 0, 10);
        put(6, 0, 10);
        read(5, 3, 4);
        read(6, 5, 6);
        isFine();
        read(5, 7, 8);
        isWrong("no order");
    }

    @Test
    void shouldReadTheLinesThatItWrites() {
        record(ValueAction.REPLACE_IF_VALUE, 6, 4, Outcome.UNKNOWN, Event.NOT_ASKED, 2, 3);
        assertThat(ValueEvent.ofLine(events.get(0).toLine())).isEqualTo(events.get(0));
    }
}
