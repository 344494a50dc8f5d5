package org.rowankv.server.frontend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.ErrorLog;
import org.rowankv.runtime.ManualClock;
import org.rowankv.server.embedded.OneCache;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.Routing;

/** What the former primary's port answers while a shard is handed over. */
final class ClientPortHandOverTest {
    private static final int SHARD = 0;

    private final Configuration first = Configuration.initial(1, 7, 3, 3, 6, List.of(1L, 1L, 1L));
    private final Configuration next =
            first.handedOver(Map.of(SHARD, first.shard(SHARD).backups()[0]));
    private final PrimariesBackend backend =
            new PrimariesBackend(first.shard(SHARD).primary());
    private final int other = first.primariesOf(backend.serverId()).stream()
            .filter(shard -> shard != SHARD)
            .findFirst()
            .orElseThrow();
    private final ManualClock clock = new ManualClock();
    private ClientPort port;

    @BeforeEach
    void open() throws IOException {
        first.primariesOf(backend.serverId()).forEach(backend.primaries::set);
        port = ClientPort.bind(
                        backend, new OneCache(), ClientPortSettings.at("127.0.0.1", 0), clock, new ErrorLog(clock))
                .serve(of(first));
        port.publish(of(next));
    }

    @AfterEach
    void close() {
        port.close();
    }

    private static Routing of(Configuration configuration) {
        return new Routing(configuration, List.of("a:1", "b:1", "c:1"));
    }

    @Test
    void shouldServeClientsOfBothConfigurationsUntilTheShardHasLeft() {
        assertThat(port.routing().announced().configuration()).isEqualTo(first);
        for (long term : new long[] {first.term(), next.term()}) {
            assertThat(port.whyNotServed(SHARD, term)).isEqualTo(Status.OK);
            assertThat(port.whyNotServed(other, term)).isEqualTo(Status.OK);
        }
        assertThat(port.isEarly(SHARD, next.term())).isFalse();
        assertThat(port.isEarly(SHARD, next.term() + 1)).isTrue();
    }

    @Test
    void shouldSendClientsOnWhenTheShardHasLeft() {
        backend.set(SHARD, false);
        assertThat(port.routing().announced().configuration()).isEqualTo(next);
        assertThat(port.whyNotServed(SHARD, first.term())).isEqualTo(Status.STALE_TERM);
        assertThat(port.whyNotServed(SHARD, next.term())).isEqualTo(Status.NOT_PRIMARY);
        assertThat(port.whyNotServed(other, first.term())).isEqualTo(Status.OK);
    }

    @Test
    void shouldTellClientsAfterAWhileAlthoughNothingHappens() {
        clock.advanceMs(20);
        await().until(() -> port.routing().announced().configuration().equals(next));
        assertThat(port.whyNotServed(SHARD, first.term())).isEqualTo(Status.OK);
    }
}
