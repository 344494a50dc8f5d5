package org.rowankv.server.session;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class SessionTableTest {
    /** F5: meeting the newest entry once more forgets the others. */
    @Test
    void shouldKeepOthersWhenOneIsMetAgain() {
        final SessionTable table = new SessionTable((address, length) -> length);
        table.open(9, 64);
        table.complete(9, 1, 0, 101, 0, 0, 128);
        table.complete(9, 2, 1, 102, 0, 0, 192);
        table.complete(9, 3, 2, 103, 0, 0, 256);
        table.complete(9, 2, 1, 102, 0, 0, 320); // the same entry, from a copy
        assertThat(table.find(9, 1)).isNotNull();
        assertThat(table.find(9, 2)).isNotNull();
        assertThat(table.find(9, 3)).isNotNull();
    }

    /** A late copy of the opening must not make room for late copies of mutations that were applied already. */
    @Test
    void shouldNotOpenAgainWhatWasClosed() {
        final SessionTable table = new SessionTable((address, length) -> length);
        table.open(9, 64);
        table.close(9, address -> 0);
        assertThat(table.wasClosed(9)).isTrue();
        assertThat(table.open(9, 128)).isFalse();
        assertThat(table.isOpen(9)).isFalse();
        assertThat(table.open(10, 192)).isTrue();
    }

    @Test
    void shouldNotOpenAgainWhatAScanFoundClosed() {
        final SessionTable table = new SessionTable((address, length) -> length);
        table.beginScan();
        table.close(9, address -> 64); // a scan meets entries in any order
        table.open(9, 640);
        table.open(10, 704);
        table.endScan();

        assertThat(table.wasClosed(9)).isTrue();
        assertThat(table.open(9, 768)).isFalse();
        assertThat(table.wasClosed(10)).isFalse();
        assertThat(table.isOpen(10)).isTrue();
    }

    @Test
    void shouldRememberTheSessionsClosedLast() {
        final SessionTable table = new SessionTable((address, length) -> length);
        for (int id = 1; id <= ClosedSessions.REMEMBERED + 1; id++) {
            table.open(id, 64L * id);
            table.close(id, address -> 0);
        }
        assertThat(table.wasClosed(1)).isFalse();
        assertThat(table.wasClosed(2)).isTrue();
        assertThat(table.wasClosed(ClosedSessions.REMEMBERED + 1)).isTrue();
        assertThat(table.openCount()).isZero();
    }

    @Test
    void shouldCallUnusedWhatNobodyAskedForLongerThanTheLease() {
        final SessionTable table = new SessionTable((address, length) -> length);
        table.open(9, 64);
        table.open(10, 128);
        table.open(11, 192);
        assertThat(table.enter(10, 1)).isEqualTo(SessionTable.Finding.NEW);
        for (int tick = 0; tick < 4; tick++) {
            assertThat(table.tick(4)).isEmpty();
        }
        assertThat(table.enter(11, 1)).isEqualTo(SessionTable.Finding.NEW);
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
        table.open(9, 64);
        table.complete(9, 1, 0, 101, 0, 0, 128);
        for (int tick = 0; tick < 5; tick++) {
            table.tick(4);
        }
        assertThat(table.beginEnding(9, 4)).isTrue();
        assertThat(table.beginEnding(9, 4)).isFalse();
        assertThat(table.enter(9, 1)).isEqualTo(SessionTable.Finding.ENDING);
        table.cancelEnding(9);
        assertThat(table.enter(9, 1)).isEqualTo(SessionTable.Finding.COMPLETED);
        assertThat(table.beginEnding(9, 4)).isFalse();
        table.leave(9);
        for (int tick = 0; tick < 5; tick++) {
            table.tick(4);
        }
        assertThat(table.beginEnding(9, 4)).isTrue();
        table.close(9, address -> 0);
        table.cancelEnding(9);
        assertThat(table.enter(9, 1)).isEqualTo(SessionTable.Finding.NO_SESSION);
    }
}
