package org.rowankv.check.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.rowankv.runtime.SplittableRandomSource;

class ChaosPlanTest {
    private static final long LEASE_NS = 400_000_000;

    private static List<ChaosRound> rounds(long seed, int count) {
        final ChaosPlan plan =
                new ChaosPlan(List.of(ChaosFault.values()), 3, LEASE_NS, new SplittableRandomSource(seed));
        final List<ChaosRound> rounds = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            rounds.add(plan.nextRound());
        }
        return rounds;
    }

    @Test
    void shouldDrawEveryKindBeforeAnyAgain() {
        final int kinds = ChaosFault.values().length;
        final List<ChaosRound> rounds = rounds(1, 2 * kinds);
        assertThat(rounds.subList(0, kinds))
                .extracting(ChaosRound::kind)
                .containsExactlyInAnyOrder(ChaosFault.values());
        assertThat(rounds.subList(kinds, 2 * kinds))
                .extracting(ChaosRound::kind)
                .containsExactlyInAnyOrder(ChaosFault.values());
    }

    @Test
    void shouldDrawTheSameFromTheSameSeed() {
        assertThat(rounds(7, 40)).isEqualTo(rounds(7, 40)).isNotEqualTo(rounds(8, 40));
    }

    @Test
    void shouldStopServersForLongerThanALease() {
        assertThat(rounds(3, 200))
                .filteredOn(round -> round.kind() == ChaosFault.PAUSE)
                .allSatisfy(round -> assertThat(round.lengthNs()).isGreaterThan(LEASE_NS));
    }

    @Test
    void shouldHitTwoDifferentServers() {
        assertThat(rounds(3, 200)).allSatisfy(round -> assertThat(round.other()).isNotEqualTo(round.server()));
    }

    @Test
    void shouldStartServersInEveryOrder() {
        final Set<List<Integer>> orders = new HashSet<>();
        for (long number = -20; number < 20; number++) {
            orders.add(ChaosPlan.order(3, number));
        }
        assertThat(orders).hasSize(6).allSatisfy(order -> assertThat(order).containsExactlyInAnyOrder(0, 1, 2));
    }
}
