package org.rowankv.server.session;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

final class SessionTableTest {
    /** F5: finding the newest entry again forgets the others. */
    @Test
    void shouldKeepOthersWhenOneIsMetAgain() {
        final SessionTable table = new SessionTable((address, length) -> length);
        table.open(9, 1, 64);
        table.complete(9, 1, 0, 101, 0, 0, 128);
        table.complete(9, 2, 1, 102, 0, 0, 192);
        table.complete(9, 3, 2, 103, 0, 0, 256);
        table.complete(9, 2, 1, 102, 0, 0, 320); // the same entry, from a copy
        assertThat(table.find(9, 1)).isNotNull();
        assertThat(table.find(9, 2)).isNotNull();
        assertThat(table.find(9, 3)).isNotNull();
    }

    /** Responses from before the newest entry stay forgotten, whichever entry a scan finds last. */
    @Test
    void shouldCallAnsweredWhatTheNewestEntrySaysInWhateverOrderAScanMeetsThem() {
        final SessionTable table = new SessionTable((address, length) -> length);
        table.beginScan();
        table.open(9, 1, 64);
        table.complete(9, 5, 1, 105, 0, 0, 320); // the watermark is 3
        table.complete(9, 2, 1, 102, 0, 0, 192);
        table.endScan();

        assertThat(table.enter(9, 2)).isEqualTo(RequestFinding.ANSWERED);
        assertThat(table.enter(9, 3)).as("its entry is gone").isEqualTo(RequestFinding.ANSWERED);
        assertThat(table.enter(9, 4)).isEqualTo(RequestFinding.NEW);
        assertThat(table.enter(9, 5)).isEqualTo(RequestFinding.COMPLETED);
    }

    /** A late copy of the opening must not admit late copies of mutations that were applied already. */
    @Test
    void shouldNotOpenAgainWhatWasClosed() {
        final SessionTable table = new SessionTable((address, length) -> length);
        table.open(9, 1, 64);
        table.close(9, 9, address -> 0);
        assertThat(table.mayBeClosed(9, 8)).isTrue();
        assertThat(table.open(9, 1, 128)).as("dead").isEqualTo(128);
        assertThat(table.isOpen(9)).isFalse();
        assertThat(table.open(10, 10, 192)).isZero();
        assertThat(table.isOpen(10)).isTrue();
    }

    @Test
    void shouldNotOpenAgainWhatAScanFoundClosed() {
        final SessionTable table = new SessionTable((address, length) -> length);
        table.beginScan();
        table.close(9, 9, address -> 64); // a scan reads entries in any order
        table.open(9, 1, 640);
        table.open(10, 1, 704);
        table.endScan();

        assertThat(table.mayBeClosed(9, 8)).isTrue();
        assertThat(table.open(9, 1, 768)).as("dead").isEqualTo(768);
        assertThat(table.mayBeClosed(10, 9)).isFalse();
        assertThat(table.isOpen(10)).isTrue();
    }

    /** A session that no mutation had used may open once more; a start then reads the entries of both times. */
    @Test
    void shouldKeepASessionOpenThatWasOpenedBehindItsEndInWhateverOrderAScanMeetsThem() {
        final List<Long> dead = new ArrayList<>();
        final List<Consumer<SessionTable>> entries = List.of(
                table -> opened(table, 5, 64, dead),
                table -> table.close(9, 8, opening -> closed(opening, dead)),
                table -> opened(table, 12, 128, dead),
                table -> table.complete(9, 1, 0, 13, 0, 0, 192),
                table -> table.close(9, 8, opening -> closed(opening, dead))); // a copy
        for (List<Consumer<SessionTable>> order : permutations(entries)) {
            final SessionTable table = new SessionTable((address, length) -> length);
            dead.clear();
            table.beginScan();
            order.forEach(entry -> entry.accept(table));
            assertThat(table.endScan()).isZero();
            assertThat(table.isOpening(9, 128)).isTrue();
            assertThat(table.find(9, 1)).isNotNull();
            assertThat(dead).containsExactly(64L);
        }
    }

    private static void opened(SessionTable table, long version, long address, List<Long> dead) {
        final long found = table.open(9, version, address);
        if (found != 0) {
            dead.add(found);
        }
    }

    private static int closed(long opening, List<Long> dead) {
        dead.add(opening);
        return 0;
    }

    private static <T> List<List<T>> permutations(List<T> of) {
        if (of.isEmpty()) {
            return List.of(List.of());
        }
        final List<List<T>> all = new ArrayList<>();
        for (int i = 0; i < of.size(); i++) {
            final List<T> others = new ArrayList<>(of);
            final T first = others.remove(i);
            for (List<T> rest : permutations(others)) {
                final List<T> one = new ArrayList<>(rest);
                one.add(0, first);
                all.add(one);
            }
        }
        return all;
    }

    /** A backup may remember an end that the primary has forgotten, and meet a copy of that end again. */
    @Test
    void shouldOpenOnceMoreWhatItRemembersAsClosedBeforeThat() {
        final SessionTable table = new SessionTable((address, length) -> length);
        table.open(9, 5, 64);
        table.close(9, 8, opening -> 0);
        assertThat(table.open(9, 12, 128)).isZero();
        assertThat(table.close(9, 8, opening -> 64)).isZero();
        assertThat(table.isOpening(9, 128)).isTrue();
    }

    /** A checkpoint holds the second opening, and the log that is read behind it the end of the first. */
    @Test
    void shouldKeepARestoredSessionOpenWhenAScanMeetsAnEarlierEndOfIt() {
        final SessionTable table = new SessionTable((address, length) -> length);
        table.beginScan();
        table.restore(new SessionImage(9, 128, 0, List.of()), 12);
        assertThat(table.close(9, 8, opening -> 64)).isZero();
        table.endScan();
        assertThat(table.isOpening(9, 128)).isTrue();
    }

    /** However many were closed since: a late copy of an opening has a version from before the session was opened. */
    @Test
    void shouldRefuseEveryLateOpeningOfASessionThatWasClosed() {
        final SessionTable table = new SessionTable((address, length) -> length);
        final int count = 20 * ClosedSessions.REMEMBERED;
        for (int id = 1; id <= count; id++) {
            table.open(id, 1, 64L * id);
            table.close(id, 100 + id, address -> 0);
            assertThat(table.mayBeClosed(count + id, 100 + id)).isFalse(); // another, with the newest version
        }
        for (int id = 1; id <= count; id++) {
            assertThat(table.mayBeClosed(id, 99 + id)).isTrue();
        }
        assertThat(table.openCount()).isZero();
    }

    /** An opening that found the session open may have a version newer than the one that opened it. */
    @Test
    void shouldRefuseLateOpeningsOfASessionThatWereSentWhileItWasOpen() {
        final SessionTable table = new SessionTable((address, length) -> length);
        table.open(9, 1, 64);
        // A second opening, with asOf = 20, finds it open; then a mutation of it has version 21.
        table.close(9, 30, address -> 0);
        for (int id = 100; id < 100 + ClosedSessions.REMEMBERED; id++) {
            table.open(id, 1, 64L * id);
            table.close(id, 32, address -> 0);
        }
        assertThat(table.mayBeClosed(9, 20)).isTrue();
        assertThat(table.mayBeClosed(8, 30)).as("another session, opened later").isFalse();
    }

    /** The entry that opened it came from a checkpoint, or from before this server was the primary. */
    @Test
    void shouldRefuseLateOpeningsOfARestoredSession() {
        final SessionTable table = new SessionTable((address, length) -> length);
        table.beginScan();
        table.restore(new SessionImage(9, 64, 0, List.of()), 1);
        table.endScan();
        table.close(9, 30, address -> 0);
        for (int id = 100; id < 100 + ClosedSessions.REMEMBERED; id++) {
            table.open(id, 1, 64L * id);
            table.close(id, 32, address -> 0);
        }
        assertThat(table.mayBeClosed(9, 29)).isTrue();
    }

    private static SessionOpening open(SessionTable table, long connection, long sessionId, long[] replaced) {
        final SessionOpening begun = table.beginOpening(connection, replaced);
        if (begun == SessionOpening.REPLACES) {
            table.close(replaced[0], 1_000, address -> 0);
        }
        if (begun != SessionOpening.WAITS) {
            table.open(sessionId, 1, 64 * sessionId);
            table.opened(sessionId, connection);
        }
        return begun;
    }

    @Test
    void shouldEndTheSessionUnusedForLongestWhenAllPlacesAreTaken() {
        final SessionTable table = new SessionTable((address, length) -> length);
        final long[] replaced = new long[1];
        table.limit(3);
        for (int id = 1; id <= 3; id++) {
            assertThat(open(table, id, id, replaced)).isEqualTo(SessionOpening.HAS_SLOT);
        }
        assertThat(table.enter(1, 1)).isEqualTo(RequestFinding.NEW);
        table.leave(1);
        assertThat(table.enter(3, 1)).isEqualTo(RequestFinding.NEW);
        assertThat(open(table, 4, 4, replaced)).isEqualTo(SessionOpening.REPLACES);
        assertThat(replaced[0]).isEqualTo(2);
        assertThat(open(table, 5, 5, replaced)).isEqualTo(SessionOpening.REPLACES);
        assertThat(replaced[0]).isEqualTo(1);
        assertThat(table.openSessions()).containsExactlyInAnyOrder(3, 4, 5);
    }

    @Test
    void shouldGiveNoPlaceTwice() {
        final SessionTable table = new SessionTable((address, length) -> length);
        final long[] replaced = new long[1];
        table.limit(2);
        open(table, 1, 1, replaced);
        open(table, 2, 2, replaced);
        assertThat(table.beginOpening(3, replaced)).isEqualTo(SessionOpening.REPLACES);
        assertThat(replaced[0]).isEqualTo(1);
        assertThat(table.beginOpening(4, replaced)).isEqualTo(SessionOpening.REPLACES);
        assertThat(replaced[0]).isEqualTo(2);
        assertThat(table.beginOpening(5, replaced)).isEqualTo(SessionOpening.WAITS);
        table.cancelEnding(1); // no room for the record
        table.notOpened();
        assertThat(table.enter(1, 1)).isEqualTo(RequestFinding.NEW);
        assertThat(table.beginOpening(5, replaced)).isEqualTo(SessionOpening.WAITS);
        table.leave(1);
        table.close(2, 1_000, address -> 0);
        table.open(4, 1, 256);
        table.opened(4, 4);
        assertThat(table.openSessions()).containsExactlyInAnyOrder(1, 4);
        assertThat(open(table, 5, 5, replaced)).isEqualTo(SessionOpening.REPLACES);
        assertThat(table.openCount()).isEqualTo(2);
    }

    /** Whatever a connection opens without bound, sessions of others stay open once it has its share. */
    @Test
    void shouldEndAConnectionsOwnSessionsOnceItHasItsShare() {
        final SessionTable table = new SessionTable((address, length) -> length);
        final long[] replaced = new long[1];
        table.limit(100);
        for (int id = 1; id <= 100; id++) {
            open(table, id, id, replaced);
        }
        for (int id = 101; id <= 1000; id++) {
            assertThat(open(table, 1, id, replaced)).isEqualTo(SessionOpening.REPLACES);
        }
        assertThat(table.openSessions())
                .hasSize(100)
                .contains(100, 90, 80, 50, 30)
                .doesNotContain(101, 900);
        assertThat(Arrays.stream(table.openSessions()).filter(id -> id > 100)).hasSize(25);
    }

    @Test
    void shouldCallUnusedWhatNobodyAskedForLongerThanTheLease() {
        final SessionTable table = new SessionTable((address, length) -> length);
        table.open(9, 1, 64);
        table.open(10, 1, 128);
        table.open(11, 1, 192);
        assertThat(table.enter(10, 1)).isEqualTo(RequestFinding.NEW);
        for (int tick = 0; tick < 4; tick++) {
            assertThat(table.tick(4)).isEmpty();
        }
        assertThat(table.enter(11, 1)).isEqualTo(RequestFinding.NEW);
        table.leave(11);
        assertThat(table.tick(4)).containsExactly(9);
        assertThat(table.beginEnding(10, 4)).isFalse();
        assertThat(table.beginEnding(11, 4)).isFalse();
        table.leave(10);
        assertThat(table.beginEnding(10, 4)).isFalse();
        for (int tick = 0; tick < 3; tick++) {
            assertThat(table.tick(4)).containsExactly(9);
        }
        assertThat(table.tick(4)).containsExactlyInAnyOrder(9, 11);
        assertThat(table.tick(4)).containsExactlyInAnyOrder(9, 10, 11);
    }

    @Test
    void shouldLetRequestsWaitWhileTheirSessionIsBeingEnded() {
        final SessionTable table = new SessionTable((address, length) -> length);
        table.open(9, 1, 64);
        table.complete(9, 1, 0, 101, 0, 0, 128);
        for (int tick = 0; tick < 5; tick++) {
            table.tick(4);
        }
        assertThat(table.beginEnding(9, 4)).isTrue();
        assertThat(table.beginEnding(9, 4)).isFalse();
        assertThat(table.enter(9, 1)).isEqualTo(RequestFinding.ENDING);
        table.cancelEnding(9);
        assertThat(table.enter(9, 1)).isEqualTo(RequestFinding.COMPLETED);
        assertThat(table.beginEnding(9, 4)).isFalse();
        table.leave(9);
        for (int tick = 0; tick < 5; tick++) {
            table.tick(4);
        }
        assertThat(table.beginEnding(9, 4)).isTrue();
        table.close(9, 1_000, address -> 0);
        table.cancelEnding(9);
        assertThat(table.enter(9, 1)).isEqualTo(RequestFinding.NO_SESSION);
    }
}
