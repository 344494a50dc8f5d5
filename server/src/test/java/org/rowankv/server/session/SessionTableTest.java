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
}
