package org.rowankv.check.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import javax.cache.CacheException;
import javax.cache.processor.EntryProcessorException;
import org.junit.jupiter.api.Test;
import org.rowankv.check.client.HonestFailure;
import org.rowankv.check.client.LongCall;
import org.rowankv.check.disturb.Disturbance;
import org.rowankv.check.disturb.FaultRound;
import org.rowankv.check.history.Outcome;
import org.rowankv.driver.api.RowanException;
import org.rowankv.jcache.operation.CacheFullException;
import org.rowankv.protocol.Status;

/** Effects of a disturbed cluster that an application may see: delays, number of unknown outcomes, exceptions. */
class BoundsTest {
    private static final List<FaultRound> FAULTS = List.of(new FaultRound("one", seconds(100), seconds(112)));

    private static long seconds(long count) {
        return TimeUnit.SECONDS.toNanos(count);
    }

    private static String whyTooLong(boolean isCompound, long from, long to, long lag) {
        return Bounds.whyTooLong(new LongCall("put", isCompound, seconds(from), seconds(to), seconds(lag)), FAULTS);
    }

    @Test
    void shouldAllowARequestItsDeadlineWhateverTheClusterDoes() {
        assertThat(whyTooLong(false, 100, 115, 0)).isNull();
        assertThat(whyTooLong(false, 100, 116, 0)).contains("put took 16.0 s");
    }

    @Test
    void shouldAllowACallOfSeveralRequestsTheTimeOfFaults() {
        assertThat(whyTooLong(true, 90, 115, 0)).isNull();
        assertThat(whyTooLong(true, 90, 118, 0)).contains("12.0 s of faults");
        assertThat(whyTooLong(true, 200, 216, 0)).contains("0.0 s of faults");
    }

    @Test
    void shouldAllowWhatTimersWereLate() {
        assertThat(whyTooLong(false, 100, 116, 2)).isNull();
    }

    @Test
    void shouldExplainOneUnknownOutcomeOfACallerForEachFaultAndPatience() {
        assertThat(Bounds.mostUnknown(List.of(), 8)).isZero();
        assertThat(Bounds.mostUnknown(FAULTS, 8)).isEqualTo(16);
        assertThat(Bounds.mostUnknown(List.of(new FaultRound("short", 0, seconds(2))), 8))
                .isEqualTo(8);
    }

    private static CacheException wrapped(Status status) {
        return new CacheException("it failed", new RowanException(status, "it failed"));
    }

    @Test
    void shouldTakeFailuresThatSayWhatBecameOfTheOperationForHonest() {
        assertThat(HonestFailure.outcomeOf(wrapped(Status.OUTCOME_UNKNOWN), false))
                .isEqualTo(Outcome.UNKNOWN);
        assertThat(HonestFailure.outcomeOf(wrapped(Status.UNREACHABLE), false)).isEqualTo(Outcome.REFUSED);
        assertThat(HonestFailure.outcomeOf(wrapped(Status.NO_REPLY), true)).isEqualTo(Outcome.REFUSED);
        assertThat(HonestFailure.outcomeOf(
                        new CacheFullException("full", new RowanException(Status.FULL, "full")), false))
                .isEqualTo(Outcome.REFUSED);
    }

    @Test
    void shouldTakeAllOtherFailuresForMistakes() {
        assertThat(HonestFailure.outcomeOf(wrapped(Status.NO_REPLY), false)).isNull();
        assertThat(HonestFailure.outcomeOf(wrapped(Status.FULL), false)).isNull();
        assertThat(HonestFailure.outcomeOf(wrapped(Status.CLOSED), true)).isNull();
        assertThat(HonestFailure.outcomeOf(wrapped(Status.BAD_REQUEST), true)).isNull();
        assertThat(HonestFailure.outcomeOf(new CacheException("why?"), true)).isNull();
        assertThat(HonestFailure.outcomeOf(new RowanException(Status.UNREACHABLE, "not wrapped"), true))
                .isNull();
        assertThat(HonestFailure.outcomeOf(
                        new EntryProcessorException(new RowanException(Status.UNREACHABLE, "?")), true))
                .isNull();
        assertThat(HonestFailure.outcomeOf(new IllegalStateException("closed"), true))
                .isNull();
    }

    private static ClusterVerifyReport report(long stops, long unknown) {
        return new ClusterVerifyReport(
                9,
                8,
                7,
                6,
                Map.of(Disturbance.STOPS, stops, Disturbance.CUTS, 5L),
                4,
                unknown,
                8,
                List.of(),
                List.of());
    }

    @Test
    void shouldFailARunInWhichADisturbanceNeverHappened() {
        assertThat(report(1, 8).isWell()).isTrue();
        assertThat(report(0, 8).isWell()).isFalse();
        assertThat(report(0, 8).neverHappened()).containsExactly("stops");
    }

    @Test
    void shouldFailARunWithMoreUnknownOutcomesThanItsFaultsExplain() {
        assertThat(report(1, 9).isWell()).isFalse();
        assertThat(report(1, 9).isTooOftenUnknown()).isTrue();
        assertThat(report(1, 9).line())
                .isEqualTo("verify: operations=9 reconnects=8 stale_terms=7 retries_joined=6 kills=0 stops=1"
                        + " zookeeper_stops=0 zookeeper_kills=0 swaps=0 cuts=5 refused=4 unknown=9 anomalies=0"
                        + " app_exceptions=0");
    }
}
