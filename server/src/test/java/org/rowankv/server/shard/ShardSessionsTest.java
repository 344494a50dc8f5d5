package org.rowankv.server.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rowankv.server.log.Segments;
import org.rowankv.server.session.SessionTable;

@Tag("mocked")
final class ShardSessionsTest {
    private static final int TICKS = 4;

    /** While the shard was elsewhere its requests have renewed the leases there. */
    @Test
    void shouldGrantWholeLeasesWhenAPrimaryBegins() {
        final ShardSessions sessions = new ShardSessions(mock(Segments.class));
        sessions.beginPrimary(Integer.MAX_VALUE);
        final SessionTable table = sessions.of(9);
        table.open(9, 1, 64);
        for (int tick = 0; tick < TICKS; tick++) {
            assertThat(table.tick(TICKS)).isEmpty();
        }
        sessions.beginPrimary(Integer.MAX_VALUE);
        for (int tick = 0; tick < TICKS; tick++) {
            assertThat(table.tick(TICKS)).isEmpty();
        }
        assertThat(table.tick(TICKS)).containsExactly(9);
    }
}
