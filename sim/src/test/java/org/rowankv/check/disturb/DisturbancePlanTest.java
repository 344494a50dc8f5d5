package org.rowankv.check.disturb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.rowankv.runtime.SplittableRandomSource;

/** The plans drawn from seeds. */
class DisturbancePlanTest {
    private static final int ROUNDS = 400;
    private static final int SERVERS = 3;
    private static final long LONGEST_NS = TimeUnit.SECONDS.toNanos(20);

    private static List<List<ServerFault>> rounds(long seed, Set<Disturbance> kinds, int servers) {
        final DisturbancePlan plan = new DisturbancePlan(kinds, servers, LONGEST_NS, new SplittableRandomSource(seed));
        final List<List<ServerFault>> rounds = new ArrayList<>();
        for (int i = 0; i < ROUNDS; i++) {
            rounds.add(plan.nextRound());
        }
        return rounds;
    }

    private static List<List<ServerFault>> rounds(long seed) {
        return rounds(seed, EnumSet.allOf(Disturbance.class), SERVERS);
    }

    @Test
    void shouldDrawTheSameFromTheSameSeed() {
        assertThat(rounds(1)).isEqualTo(rounds(1)).isNotEqualTo(rounds(2));
    }

    @Test
    void shouldGiveEachKindItsTurnSoon() {
        for (long seed = 0; seed < 50; seed++) {
            assertThat(rounds(seed).subList(0, 6).stream().flatMap(List::stream).map(ServerFault::kind))
                    .contains(
                            Disturbance.KILLS,
                            Disturbance.STOPS,
                            Disturbance.ZOOKEEPER_KILLS,
                            Disturbance.ZOOKEEPER_STOPS,
                            Disturbance.SWAPS)
                    .doesNotContain(Disturbance.CUTS);
        }
    }

    @Test
    void shouldDoTwoThingsAtOnceNowAndThenButNotToOneProcess() {
        final List<List<ServerFault>> pairs =
                rounds(3).stream().filter(round -> round.size() == 2).toList();
        assertThat(pairs).hasSizeBetween(ROUNDS / 10, ROUNDS / 3);
        for (List<ServerFault> pair : pairs) {
            final ServerFault first = pair.get(0);
            final ServerFault second = pair.get(1);
            assertThat(first.kind().isOfZooKeeper() && second.kind().isOfZooKeeper())
                    .isFalse();
            if (first.kind().isOfServer() && second.kind().isOfServer()) {
                assertThat(first.server()).isNotEqualTo(second.server());
            }
        }
        assertThat(pairs)
                .anyMatch(pair -> pair.stream().allMatch(each -> each.kind().isOfServer()));
        assertThat(pairs)
                .anyMatch(pair -> pair.stream().anyMatch(each -> each.kind().isOfZooKeeper()));
    }

    @Test
    void shouldStopShortlyAndForLongAndKillForLess() {
        final List<ServerFault> faults =
                rounds(4).stream().flatMap(List::stream).toList();
        final Stream<ServerFault> stops = faults.stream().filter(each -> each.kind() == Disturbance.STOPS);
        assertThat(stops.map(ServerFault::lengthNs))
                .allMatch(length -> length >= TimeUnit.MILLISECONDS.toNanos(499) && length <= LONGEST_NS)
                .anyMatch(length -> length < TimeUnit.SECONDS.toNanos(1))
                .anyMatch(length -> length > TimeUnit.SECONDS.toNanos(12));
        final Stream<ServerFault> kills = faults.stream().filter(each -> each.kind() == Disturbance.KILLS);
        assertThat(kills.map(ServerFault::lengthNs))
                .allMatch(length -> length >= 0 && length <= TimeUnit.SECONDS.toNanos(5))
                .anyMatch(length -> length > TimeUnit.SECONDS.toNanos(4));
        assertThat(faults.stream().map(ServerFault::server)).contains(0, 1, 2);
    }

    @Test
    void shouldDoOnlyWhatItWasAskedFor() {
        assertThat(rounds(5, Set.of(Disturbance.KILLS), 1))
                .allMatch(round -> round.size() == 1 && round.get(0).kind() == Disturbance.KILLS);
        assertThat(rounds(5, Set.of(Disturbance.CUTS), SERVERS)).allMatch(List::isEmpty);
        assertThat(rounds(5, Set.of(Disturbance.KILLS, Disturbance.STOPS), 1)).allMatch(round -> round.size() == 1);
    }

    @Test
    void shouldReadNamesAsAnOptionHasThem() {
        assertThat(Disturbance.parse("cuts, zookeeper-stops"))
                .containsExactlyInAnyOrder(Disturbance.CUTS, Disturbance.ZOOKEEPER_STOPS);
        assertThat(Disturbance.parse(Disturbance.optionNames())).hasSize(Disturbance.values().length);
        assertThatThrownBy(() -> Disturbance.parse("cuts,kils"))
                .hasMessageContaining("\"kils\" is no disturbance")
                .hasMessageContaining("kills,stops");
        assertThatThrownBy(() -> Disturbance.parse("")).hasMessageContaining("\"\" is no disturbance");
    }
}
