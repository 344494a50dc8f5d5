package org.rowankv.sim.workload;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.rowankv.check.history.Anomaly;
import org.rowankv.check.history.Event;
import org.rowankv.check.history.HistoryRecorder;
import org.rowankv.check.history.KeyAction;
import org.rowankv.check.history.KeyHistoryChecker;
import org.rowankv.check.history.Outcome;
import org.rowankv.protocol.Ttl;

class LifetimeCheckerTest {
    private static final int KEY = 0;
    private static final long VALUE = 7;
    private static final long FORMER = 5;
    private static final long MS = 1_000_000;

    private final LifetimeChecker lifetimes = new LifetimeChecker();

    private void stored(long value, long atNs, long lifetimeMs) {
        lifetimes.begins(KEY, value);
        lifetimes.begun(KEY, value, atNs, lifetimeMs);
        lifetimes.stored(value, atNs, atNs + MS, lifetimeMs);
    }

    private boolean isOver(long value, long atNs) {
        return lifetimes.isOver(KEY, value, atNs);
    }

    /** Whether a read without a result at that time is explained, given the former value. */
    private boolean mayBeGone(long value, long atNs) {
        final HistoryRecorder history = new HistoryRecorder(1, 1);
        final KeyHistoryChecker checker = new KeyHistoryChecker();
        final Event there = new Event(-1, KeyAction.GET, 0, 0, Outcome.DONE, 1, 0, value, -2, -1);
        history.log(0).add(KEY, new Event(0, KeyAction.PUT, value, 0, Outcome.DONE, 1, 0, Event.NOT_ASKED, -4, -3));
        history.check(KEY, there, checker);
        history.clear();
        lifetimes.addTo(history.log(0), KEY, value);
        final Event gone = new Event(-1, KeyAction.GET, 0, 0, Outcome.NOT_FOUND, 0, 0, Event.NOT_ASKED, atNs - 1, atNs);
        return history.check(KEY, gone, checker).stream()
                .map(Anomaly::reason)
                .toList()
                .isEmpty();
    }

    @Test
    void shouldEndAValueBetweenItsEarliestAndItsLatestEnd() {
        stored(VALUE, 0, 100);
        assertThat(isOver(VALUE, 90 * MS)).isFalse();
        assertThat(isOver(VALUE, 110 * MS)).isTrue();
        assertThat(mayBeGone(VALUE, 90 * MS)).isFalse();
    }

    @Test
    void shouldLetAValueGoWhenItsLifetimeMayBeOver() {
        stored(VALUE, 0, 100);
        assertThat(mayBeGone(VALUE, 110 * MS)).isTrue();
    }

    @Test
    void shouldGiveAKeptLifetimeTheEndOfTheFormerOne() {
        stored(FORMER, 0, 100);
        lifetimes.begins(KEY, VALUE);
        lifetimes.mayKeep(KEY, VALUE);
        lifetimes.kept(KEY, VALUE, FORMER, 50 * MS);
        assertThat(isOver(VALUE, 90 * MS)).isFalse();
        assertThat(isOver(VALUE, 110 * MS)).isTrue();
        assertThat(mayBeGone(VALUE, 90 * MS)).isFalse();
    }

    @Test
    void shouldNotEndWhatKeepsNoLifetime() {
        lifetimes.begins(KEY, FORMER);
        lifetimes.begins(KEY, VALUE);
        lifetimes.mayKeep(KEY, VALUE);
        lifetimes.kept(KEY, VALUE, FORMER, 50 * MS);
        assertThat(isOver(VALUE, 1_000_000 * MS)).isFalse();
        assertThat(mayBeGone(VALUE, 1_000_000 * MS)).isFalse();
    }

    @Test
    void shouldLetWhatMayHaveKeptALifetimeEndAsAnyOfItsKey() {
        stored(FORMER, 0, 100);
        lifetimes.begins(KEY, VALUE);
        lifetimes.mayKeep(KEY, VALUE); // without a reply
        assertThat(isOver(VALUE, 1_000_000 * MS)).isFalse();
        assertThat(mayBeGone(VALUE, 110 * MS)).isTrue();
    }

    @Test
    void shouldEndAtOnceWhatIsTouchedWithNoLifetime() {
        lifetimes.begins(KEY, VALUE);
        lifetimes.touchBegins(KEY, VALUE, 10 * MS, Ttl.IMMEDIATE);
        assertThat(isOver(VALUE, 11 * MS)).isFalse();
        lifetimes.touched(KEY, VALUE, 10 * MS, 12 * MS, Ttl.IMMEDIATE);
        assertThat(isOver(VALUE, 12 * MS)).isFalse();
        assertThat(isOver(VALUE, 12 * MS + 1)).isTrue();
    }

    @Test
    void shouldKeepTheEndThatATouchGaveBeforeTheWriteWasAnswered() {
        lifetimes.begins(KEY, VALUE);
        endAtOnce(VALUE);
        lifetimes.stored(VALUE, 0, 20 * MS, Ttl.ETERNAL);
        assertThat(isOver(VALUE, 12 * MS + 1)).isTrue();
        assertThat(mayBeGone(VALUE, 12 * MS)).isTrue();
    }

    @Test
    void shouldKeepTheEndThatATouchGaveBeforeTheWriteThatKeepsALifetimeWasAnswered() {
        stored(FORMER, 0, 100);
        lifetimes.begins(KEY, VALUE);
        lifetimes.mayKeep(KEY, VALUE);
        endAtOnce(VALUE);
        lifetimes.kept(KEY, VALUE, FORMER, 20 * MS);
        assertThat(isOver(VALUE, 12 * MS + 1)).isTrue();
        assertThat(mayBeGone(VALUE, 12 * MS)).isTrue();
    }

    @Test
    void shouldNotEndAValueBeforeItIsTouchedWithNoLifetime() {
        lifetimes.begins(KEY, VALUE);
        endAtOnce(VALUE);
        lifetimes.stored(VALUE, 0, 20 * MS, Ttl.ETERNAL);
        assertThat(mayBeGone(VALUE, 9 * MS)).isFalse();
    }

    private void endAtOnce(long value) {
        lifetimes.touchBegins(KEY, value, 10 * MS, Ttl.IMMEDIATE);
        lifetimes.touched(KEY, value, 10 * MS, 12 * MS, Ttl.IMMEDIATE);
    }

    @Test
    void shouldNotJudgeWhileATouchIsOpen() {
        stored(VALUE, 0, 10);
        lifetimes.touchBegins(KEY, VALUE, MS, 1_000);
        assertThat(isOver(VALUE, 100 * MS)).isFalse();
        lifetimes.untouched(KEY, VALUE);
        assertThat(isOver(VALUE, 100 * MS)).isTrue();
    }

    @Test
    void shouldTakeTheLastOfTouchesThatFollowEachOtherAndTheLongestOfThoseThatOverlap() {
        lifetimes.begins(KEY, VALUE);
        lifetimes.touchBegins(KEY, VALUE, 0, 1_000);
        lifetimes.touched(KEY, VALUE, 0, MS, 1_000);
        lifetimes.touchBegins(KEY, VALUE, 2 * MS, 10);
        lifetimes.touchBegins(KEY, VALUE, 2 * MS, 100);
        lifetimes.touched(KEY, VALUE, 2 * MS, 3 * MS, 100);
        lifetimes.touched(KEY, VALUE, 2 * MS, 3 * MS, 10);
        assertThat(isOver(VALUE, 90 * MS)).isFalse();
        assertThat(isOver(VALUE, 120 * MS)).isTrue();
    }

    @Test
    void shouldLetAnyValueEndThatAnUnclearAccessMayHaveMet() {
        lifetimes.begins(KEY, VALUE);
        lifetimes.accessBegins(KEY);
        lifetimes.accessUnclear(KEY, 0, 10);
        assertThat(mayBeGone(VALUE, 20 * MS)).isTrue();
    }

    @Test
    void shouldEndNothingByAnAccessThatHasMetNothing() {
        lifetimes.begins(KEY, VALUE);
        lifetimes.accessBegins(KEY);
        lifetimes.accessed(KEY, Event.ABSENT, 0, MS, 10);
        assertThat(mayBeGone(VALUE, 20 * MS)).isFalse();
    }

    @Test
    void shouldEndSoonerOrLaterByAClockThatJumps() {
        stored(VALUE, 0, 100);
        lifetimes.jumped(10 * MS, -50);
        assertThat(isOver(VALUE, 140 * MS)).isFalse();
        assertThat(isOver(VALUE, 160 * MS)).isTrue();
        lifetimes.jumped(11 * MS, 50);
        assertThat(mayBeGone(VALUE, 20 * MS)).isTrue();
    }
}
