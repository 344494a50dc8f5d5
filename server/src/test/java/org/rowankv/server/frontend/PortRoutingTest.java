package org.rowankv.server.frontend;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.Routing;

/** When clients learn that shards have been handed over. */
final class PortRoutingTest {
    private static final int SHARD = 0;
    private static final long LIMIT_NS = 20_000_000;

    private final Configuration first = Configuration.initial(1, 7, 3, 3, 6, List.of(1L, 1L, 1L));
    private final int from = first.shard(SHARD).primary();
    private final int to = first.shard(SHARD).backups()[0];
    private final int third = first.shard(SHARD).backups()[1];
    private final PortRouting routing = new PortRouting();

    private PrimariesBackend backend(int server) {
        final PrimariesBackend backend = new PrimariesBackend(server);
        first.primariesOf(server).forEach(backend.primaries::set);
        return backend;
    }

    private static Routing of(Configuration configuration) {
        return new Routing(configuration, List.of("a:1", "b:1", "c:1"));
    }

    private void requireAnnounced(PrimariesBackend backend, long nowNs, Configuration next) {
        assertThat(routing.announce(backend, nowNs)).isTrue();
        assertThat(routing.isAnnouncing()).isFalse();
        assertThat(routing.announced().configuration()).isEqualTo(next);
        assertThat(routing.announce(backend, nowNs)).isFalse();
    }

    private void requireUnannounced(PrimariesBackend backend, long nowNs) {
        assertThat(routing.announce(backend, nowNs)).isFalse();
        assertThat(routing.isAnnouncing()).isTrue();
        assertThat(routing.announced().configuration()).isEqualTo(first);
        assertThat(routing.inForce().term()).isGreaterThan(first.term());
    }

    @BeforeEach
    void setFirst() {
        routing.set(of(first));
        assertThat(routing.isAnnouncing()).isFalse();
    }

    private Configuration handOver() {
        final Configuration next = first.handedOver(Map.of(SHARD, to));
        assertThat(routing.follow(of(next), 0)).isTrue();
        assertThat(routing.follow(of(next), 0)).isFalse();
        return next;
    }

    @Test
    void shouldTellClientsOfTheFormerPrimaryWhenTheShardHasLeft() {
        final PrimariesBackend backend = backend(from);
        final Configuration next = handOver();
        requireUnannounced(backend, 1);
        backend.primaries.clear(SHARD);
        requireAnnounced(backend, 2, next);
    }

    @Test
    void shouldTellClientsOfTheNextPrimaryWhenTheShardIsOpen() {
        final PrimariesBackend backend = backend(to);
        final Configuration next = handOver();
        requireUnannounced(backend, 1);
        backend.primaries.set(SHARD);
        requireAnnounced(backend, 2, next);
    }

    @Test
    void shouldTellClientsOfAnotherServerAfterAWhile() {
        final PrimariesBackend backend = backend(third);
        final Configuration next = handOver();
        requireUnannounced(backend, LIMIT_NS - 1);
        requireAnnounced(backend, LIMIT_NS, next);
    }

    @Test
    void shouldTellOfTheFormerPrimarysEndAtOnce() {
        final Configuration next = first.excluding(Set.of(from), third);
        assertThat(routing.follow(of(next), 0)).isTrue();
        requireAnnounced(backend(third), 0, next);
    }

    @Test
    void shouldTellOfTheNewestOnly() {
        final PrimariesBackend backend = backend(third);
        final Configuration next = handOver();
        final Configuration last = next.excluding(Set.of(from), third);
        assertThat(routing.follow(of(last), 1)).isTrue();
        assertThat(routing.follow(of(next), 2)).isFalse();
        requireAnnounced(backend, 2, last);
    }
}
