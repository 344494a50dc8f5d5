package org.rowankv.server.manager;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.rowankv.topology.Configuration;
import org.rowankv.topology.ShardAssignment;

final class DeparturesTest {
    private static final Configuration THREE =
            configuration(Set.of(), shard(0, 1), shard(0, 2), shard(1, 0), shard(2, 1));

    private final Departures departures = new Departures();
    private long nowNs = 1_000;

    private static ShardAssignment shard(int primary, int... backups) {
        return new ShardAssignment(4, primary, backups);
    }

    private static Configuration configuration(Set<Integer> excluded, ShardAssignment... shards) {
        return new Configuration(5, 6, 9, List.of(1L, 1L, 1L), List.of(shards), 9, 1, excluded);
    }

    private Departures.Answer ask(int server, long bareTerm) {
        return departures.ask(server, 1, bareTerm, nowNs);
    }

    private void gather() {
        nowNs += Departures.GATHER_NS;
    }

    @Test
    void shouldHandOverThePrimariesAndThenLetNothingWaitForTheServer() {
        assertThat(ask(0, 0)).isEqualTo(Departures.Answer.UNDER_WAY);
        gather();
        final Configuration handedOver = departures.next(THREE, nowNs);
        assertThat(handedOver).isEqualTo(THREE.handedOver(Map.of(0, 1, 1, 2)));

        assertThat(ask(0, THREE.term())).isEqualTo(Departures.Answer.UNDER_WAY);
        assertThat(departures.next(handedOver, nowNs))
                .as("a shard may still be leaving")
                .isNull();
        assertThat(ask(0, handedOver.term())).isEqualTo(Departures.Answer.UNDER_WAY);
        final Configuration without = departures.next(handedOver, nowNs);
        assertThat(without).isEqualTo(handedOver.withoutBackups(Set.of(0)));
        assertThat(without.shards()).noneMatch(shard -> shard.isReplica(0));
        assertThat(without.members()).containsExactly(0, 1, 2);

        assertThat(departures.next(without, nowNs)).isNull();
        assertThat(ask(0, without.term())).isEqualTo(Departures.Answer.DONE);
        assertThat(departures.hasDeparted(0, 1)).isTrue();
        assertThat(departures.hasDeparted(0, 2)).isFalse();
    }

    @Test
    void shouldMoveNothingBeforeItKnowsWhoElseStops() {
        ask(0, 0);
        nowNs += Departures.GATHER_NS - 1;
        assertThat(departures.next(THREE, nowNs)).isNull();
    }

    @Test
    void shouldMoveNothingIfAllStop() {
        ask(0, 0);
        ask(1, 0);
        ask(2, 0);
        gather();
        assertThat(departures.next(THREE, nowNs)).isNull();
        for (int server = 0; server < 3; server++) {
            assertThat(ask(server, 0)).isEqualTo(Departures.Answer.REFUSED);
        }
    }

    /** Servers 0 and 1 have shard 0 alone, 2 can take over nothing. */
    @Test
    void shouldRefuseThoseWithoutWhomAShardWouldLackACompleteReplica() {
        ask(0, 0);
        ask(1, 0);
        gather();
        assertThat(departures.next(THREE, nowNs)).isNull();
        assertThat(ask(0, 0)).isEqualTo(Departures.Answer.REFUSED);
        assertThat(ask(1, 0)).isEqualTo(Departures.Answer.REFUSED);
    }

    @Test
    void shouldRefuseThePrimaryOfAShardWhoseOnlyBackupIsJoining() {
        final Configuration joining =
                configuration(Set.of(), new ShardAssignment(4, 0, new int[] {1}, Set.of(1)), shard(1, 2));
        ask(0, 0);
        gather();
        assertThat(departures.next(joining, nowNs)).isNull();
        assertThat(ask(0, 0)).isEqualTo(Departures.Answer.REFUSED);
    }

    @Test
    void shouldWaitForACopyThatThePrimarySends() {
        final Configuration copying =
                configuration(Set.of(), new ShardAssignment(4, 0, new int[] {1, 2}, Set.of(2)), shard(0, 2));
        ask(0, 0);
        gather();
        assertThat(departures.next(copying, nowNs)).isEqualTo(copying.handedOver(Map.of(1, 2)));
    }

    @Test
    void shouldForgetOneThatDoesNotAskAgain() {
        ask(0, 0);
        nowNs += Departures.FORGET_NS - 1;
        assertThat(departures.servers(THREE, nowNs)).containsExactly(0);
        nowNs++;
        assertThat(departures.servers(THREE, nowNs)).isEmpty();
        assertThat(departures.next(THREE, nowNs)).isNull();
    }

    /** It is another process, with roles of its own. */
    @Test
    void shouldNotConfuseIncarnations() {
        departures.ask(0, 2, 0, nowNs);
        gather();
        assertThat(departures.servers(THREE, nowNs)).isEmpty();
        assertThat(departures.next(THREE, nowNs)).isNull();
    }
}
