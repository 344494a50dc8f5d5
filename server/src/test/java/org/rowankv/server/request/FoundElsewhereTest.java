package org.rowankv.server.request;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.RETURNS_DEEP_STUBS;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rowankv.protocol.Request;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.ManualClock;
import org.rowankv.server.log.ReadCheck;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.LimitedCaches;
import org.rowankv.server.shard.ShardReplica;

/** The servers of a process have the same addresses: where one has found an object says nothing at another. */
@Tag("mocked")
final class FoundElsewhereTest {
    private static final long ADDRESS = 640;
    private static final long USE = 5;

    private final ManualClock clock = new ManualClock(1, 1_000_000);
    /** An item of that tag is there, with that address. */
    private final ShardReplica replica = mock(ShardReplica.class, RETURNS_DEEP_STUBS);

    private static final class Found extends FoundEntry {
        Found(ShardReplica replica, Request read) {
            super(replica, read);
        }
    }

    private ObjectReader reader(int server) {
        final Segments segments = mock(Segments.class, RETURNS_DEEP_STUBS);
        when(segments.area().serverId()).thenReturn(server);
        when(segments.use(anyInt())).thenReturn(USE);
        when(segments.damage().isLost(anyLong(), anyInt())).thenReturn(false);
        return new ObjectReader(
                segments, clock, new ErrorLog(clock), mock(ReadCheck.class), false, mock(LimitedCaches.class));
    }

    @Test
    void shouldBeCurrentWhereItWasFoundOnly() {
        when(replica.index().refers(anyLong(), anyLong())).thenReturn(true);
        for (int server = 0; server < 3; server++) {
            final Request read = new Request().get(1, new byte[] {1}, 0, 1);
            read.found(ADDRESS, reader(server).useOf(0), 7, Long.MAX_VALUE);
            assertThat(read.isFound()).isTrue();
            for (int other = 0; other < 3; other++) {
                assertThat(reader(other).isCurrent(new Found(replica, read)))
                        .as("found at %d, asked at %d", server, other)
                        .isEqualTo(server == other);
            }
        }
    }
}
