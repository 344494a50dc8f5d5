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

    private void awaitReturns() {
        nowNs += Departures.RETURN_NS;
    }

    private void gather() {
        nowNs += Departures.GATHER_NS;
    }

    @Test
    void shouldHandOverThePrimariesAndThenLetNothingWaitForTheServer() {
        assertThat(ask(0, 0)).isEqualTo(Departures.Answer.UNDER_WAY);
        gather();
        final Configuration handedOver = departures.next(THREE, 2, nowNs);
        assertThat(handedOver).isEqualTo(THREE.handedOver(Map.of(0, 1, 1, 2)));

        assertThat(ask(0, THREE.term())).isEqualTo(Departures.Answer.UNDER_WAY);
        assertThat(departures.next(handedOver, 2, nowNs))
                .as("a shard may still be leaving")
                .isNull();
        assertThat(ask(0, handedOver.term())).isEqualTo(Departures.Answer.UNDER_WAY);
        final Configuration without = departures.next(handedOver, 2, nowNs);
        assertThat(without).isEqualTo(handedOver.withoutBackups(Set.of(0)));
        assertThat(without.shards()).noneMatch(shard -> shard.isReplica(0));
        assertThat(without.members()).containsExactly(0, 1, 2);

        assertThat(departures.next(without, 2, nowNs)).isNull();
        assertThat(ask(0, without.term())).isEqualTo(Departures.Answer.DONE);
        assertThat(departures.hasDeparted(0, 1)).isTrue();
        assertThat(departures.hasDeparted(0, 2)).isFalse();
    }

    @Test
    void shouldMoveNothingBeforeItKnowsWhoElseStops() {
        ask(0, 0);
        nowNs += Departures.GATHER_NS - 1;
        assertThat(departures.next(THREE, 2, nowNs)).isNull();
    }

    @Test
    void shouldMoveNothingIfAllStop() {
        ask(0, 0);
        ask(1, 0);
        ask(2, 0);
        gather();
        assertThat(departures.next(THREE, 2, nowNs)).isNull();
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
        assertThat(departures.next(THREE, 2, nowNs)).isNull();
        assertThat(ask(0, 0)).isEqualTo(Departures.Answer.REFUSED);
        assertThat(ask(1, 0)).isEqualTo(Departures.Answer.REFUSED);
    }

    /** However long the copy takes. */
    @Test
    void shouldKeepThePrimaryOfAShardWhoseOnlyBackupIsJoining() {
        final Configuration joining =
                configuration(Set.of(), new ShardAssignment(4, 0, new int[] {1}, Set.of(1)), shard(1, 2));
        ask(0, 0);
        awaitReturns();
        ask(0, 0);
        assertThat(departures.next(joining, 2, nowNs)).isNull();
        assertThat(ask(0, 0)).isEqualTo(Departures.Answer.UNDER_WAY);
        final Configuration complete = configuration(Set.of(), shard(0, 1), shard(1, 2));
        assertThat(departures.next(complete, 2, nowNs)).isEqualTo(complete.handedOver(Map.of(0, 1)));
    }

    /** Server 1 alone has what 2 had, which has just been excluded: it may be back soon. */
    @Test
    void shouldKeepAMemberForATimeWhileAnotherIsExcluded() {
        final Configuration without = configuration(Set.of(2), shard(0, 1), shard(1));
        ask(1, 0);
        gather();
        assertThat(departures.next(without, 2, nowNs)).isNull();
        assertThat(ask(1, 0)).isEqualTo(Departures.Answer.UNDER_WAY);
        awaitReturns();
        ask(1, 0);
        assertThat(departures.next(without, 2, nowNs)).isNull();
        assertThat(ask(1, 0)).isEqualTo(Departures.Answer.REFUSED);
    }

    /** Server 1 drains still, without roles: nothing is to be copied there, and no one waits for it. */
    @Test
    void shouldCountOneThatHasLeftAsLeavingWhileItIsAMember() {
        final Configuration without = configuration(Set.of(), shard(0), shard(0, 2));
        ask(1, without.term());
        gather();
        assertThat(departures.next(without, 2, nowNs)).isNull();
        assertThat(ask(1, without.term())).isEqualTo(Departures.Answer.DONE);
        nowNs += Departures.FORGET_NS;
        assertThat(departures.servers(without, nowNs)).isEmpty();
        assertThat(departures.leaving(without, nowNs)).containsExactly(1);
        ask(0, 0);
        ask(2, 0);
        gather();
        assertThat(departures.next(without, 2, nowNs)).isNull();
        assertThat(ask(0, 0)).as("all stop").isEqualTo(Departures.Answer.REFUSED);
    }

    /** The joining backup stops too. */
    @Test
    void shouldNotWaitForACopyToOneThatStops() {
        final Configuration joining =
                configuration(Set.of(), new ShardAssignment(4, 0, new int[] {1}, Set.of(1)), shard(0, 2));
        ask(0, 0);
        ask(1, 0);
        awaitReturns();
        ask(0, 0);
        ask(1, 0);
        assertThat(departures.next(joining, 2, nowNs)).isNull();
        assertThat(ask(0, 0)).isEqualTo(Departures.Answer.REFUSED);
    }

    @Test
    void shouldWaitForACopyThatThePrimarySends() {
        final Configuration copying =
                configuration(Set.of(), new ShardAssignment(4, 0, new int[] {1, 2}, Set.of(2)), shard(0, 2));
        ask(0, 0);
        gather();
        assertThat(departures.next(copying, 2, nowNs)).isEqualTo(copying.handedOver(Map.of(1, 2)));
    }

    @Test
    void shouldForgetOneThatDoesNotAskAgain() {
        ask(0, 0);
        nowNs += Departures.FORGET_NS - 1;
        assertThat(departures.servers(THREE, nowNs)).containsExactly(0);
        nowNs++;
        assertThat(departures.servers(THREE, nowNs)).isEmpty();
        assertThat(departures.next(THREE, 2, nowNs)).isNull();
    }

    /** It is another process, with roles of its own. */
    @Test
    void shouldNotConfuseIncarnations() {
        departures.ask(0, 2, 0, nowNs);
        gather();
        assertThat(departures.servers(THREE, nowNs)).isEmpty();
        assertThat(departures.next(THREE, 2, nowNs)).isNull();
    }
}
