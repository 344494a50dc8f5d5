package org.rowankv.server.engine;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rowankv.server.shard.ShardSessions;

/** The bounds of live bytes in an area, and their division. */
final class ServerSettingsTest {
    private static final int STRIDE = 64;
    private static final int FILL_PERCENT = 88;

    /**
     * Objects and sessions together take exactly the space for live entries: sessions at least one in each table, at
     * most a sixteenth.
     */
    @ParameterizedTest
    @CsvSource({"64, 65536, 1", "64, 65536, 144", "64, 4194304, 6", "4096, 4194304, 4096", "40, 65536, 1000"})
    void shouldKeepThePartOfSessionsApartFromThatOfObjects(int segments, int length, int replicas) {
        final ServerSettings settings = ServerSettings.of(segments, 4, true, usual -> {});
        final long mayLive = (long) (segments - settings.reservedSegments()) * length * FILL_PERCENT / 100;
        final long reserve = settings.sessionReserve(segments, length, replicas);
        assertThat(settings.spaceLimit(segments, length, replicas) + reserve).isEqualTo(mayLive);
        final int perTable = settings.sessionsPerTable(segments, length, replicas);
        assertThat(perTable).isBetween(1, 256);
        assertThat(reserve).isEqualTo((long) perTable * ShardSessions.TABLES * replicas * STRIDE);
        if (perTable > 1) {
            assertThat(reserve).isLessThanOrEqualTo(mayLive / 16);
        }
    }
}
