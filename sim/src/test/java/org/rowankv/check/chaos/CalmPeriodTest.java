package org.rowankv.check.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.rowankv.topology.Configuration;

class CalmPeriodTest {
    private static Configuration configuration(List<Long> incarnations, Set<Integer> excluded) {
        final Configuration first = Configuration.initial(1, 1, 3, 2, 3, List.of(1L, 1L, 1L));
        return new Configuration(1, 1, 5, incarnations, first.shards(), 1, 0, excluded);
    }

    private static String bucket(String server, String bound, long count) {
        return "rowan_lease_margin_seconds_bucket{server=\"" + server + "\",le=\"" + bound + "\"} " + count + "\n";
    }

    @Test
    void shouldCountServersThatReturnedAndThatAreAway() {
        final Configuration before = configuration(List.of(2L, 2L, 2L), Set.of());
        assertThat(CalmPeriod.exclusions(before, before)).isZero();
        assertThat(CalmPeriod.exclusions(before, configuration(List.of(2L, 4L, 2L), Set.of())))
                .isEqualTo(2);
        assertThat(CalmPeriod.exclusions(before, configuration(List.of(2L, 3L, 2L), Set.of(2))))
                .isEqualTo(2);
    }

    @Test
    void shouldSayWhatWasLeftAtLeast() {
        final Map<Double, Long> counts = new TreeMap<>();
        for (String server : List.of("server-1", "server-2")) {
            CalmPeriod.addMargins(
                    "# TYPE rowan_up gauge\n" + bucket(server, "0.05", 0) + bucket(server, "0.1", 1)
                            + bucket(server, "0.2", 6) + bucket(server, "0.5", 1000) + bucket(server, "+Inf", 1000),
                    counts);
        }
        final ChaosReport.Calm calm = CalmPeriod.outcome(0, counts);
        assertThat(calm.renewals()).isEqualTo(2000);
        assertThat(calm.halfMs()).isEqualTo(200);
        assertThat(calm.hundredthMs()).isEqualTo(200);
        assertThat(calm.thousandthMs()).isEqualTo(100);
    }

    @Test
    void shouldSayThatNothingWasLeft() {
        final Map<Double, Long> counts = new TreeMap<>();
        CalmPeriod.addMargins(bucket("server-1", "1.0e-6", 3) + bucket("server-1", "+Inf", 100), counts);
        assertThat(CalmPeriod.outcome(0, counts).hundredthMs()).isZero();
    }
}
