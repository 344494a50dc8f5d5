package org.rowankv.check.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class ChaosReportTest {
    private static ChaosReport report(long kills, long lost, long exceptions, long survived, boolean needsAll) {
        return new ChaosReport(
                List.of(
                        new ChaosReport.FaultOutcomeCount(ChaosFault.CONTROL, 2),
                        new ChaosReport.FaultOutcomeCount(ChaosFault.KILL, kills),
                        new ChaosReport.FaultOutcomeCount(ChaosFault.PAUSE, 3)),
                1000,
                lost,
                0,
                0,
                0,
                exceptions,
                900,
                2,
                5,
                survived,
                needsAll,
                null);
    }

    private static ChaosReport calm(long exclusions, long renewals) {
        return new ChaosReport(
                List.of(),
                1000,
                0,
                0,
                0,
                0,
                0,
                9,
                0,
                0,
                0,
                true,
                new ChaosReport.Calm(exclusions, renewals, 200, 100, 50));
    }

    @Test
    void shouldNotBeWellWhenAServerWasExcludedWithoutAFault() {
        assertThat(calm(0, 700).isWell()).isTrue();
        assertThat(calm(1, 700).isWell()).isFalse();
        assertThat(calm(0, 0).isWell()).isFalse();
        assertThat(calm(0, 700).line())
                .endsWith(" survived=0 exclusions=0 renewals=700 lease_margin_ms p50=200 p1=100 p0.1=50");
    }

    @Test
    void shouldBeWellWhenAllIsSurvivedAndNothingLost() {
        assertThat(report(4, 0, 0, 7, true).isWell()).isTrue();
        assertThat(report(4, 0, 0, 7, true).line())
                .isEqualTo("chaos: faults=7 control=2 kill=4 pause=3 operations=1000 lost=0 doubled=0 stale=0"
                        + " unexplained=0 app_exceptions=0 events=900 events_lost=2 failed_while_down=5 survived=7");
    }

    @Test
    void shouldNotBeWellWhenThePromiseBroke() {
        assertThat(report(4, 1, 0, 7, true).isWell()).isFalse();
        assertThat(report(4, 0, 1, 7, true).isWell()).isFalse();
        assertThat(report(4, 0, 0, 6, true).isWell()).isFalse();
    }

    @Test
    void shouldNotBeWellWhenANamedFaultNeverHappened() {
        assertThat(report(0, 0, 0, 3, true).isWell()).isFalse();
        assertThat(report(0, 0, 0, 3, false).isWell()).isTrue();
    }
}
