package org.rowankv.server.resync;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.rowankv.runtime.concurrent.LatencyHistogram;

final class CopyPaceTest {
    private static final long MOST = 128 << 20;
    private static final long LEAST = MOST / CopyPace.LEAST;
    private static final long US = 1_000;
    private static final long MS = 1_000_000;

    private final LatencyHistogram writes = new LatencyHistogram();
    private final CopyPace pace = new CopyPace(MOST);
    private long nowNs = 77;

    private void wrote(int times, long ns) {
        writes.record(ns, times);
    }

    private long rateAfter(long ns) {
        nowNs += ns;
        return pace.bytesPerSecond(nowNs);
    }

    /** Copies have begun, at the least rate, and have become as fast as can be. */
    private void copyFast() {
        pace.yieldTo(writes::count);
        assertThat(rateAfter(0)).isEqualTo(LEAST);
        for (int i = 0; i < 10; i++) {
            rateAfter(CopyPace.QUIET_NS);
        }
        assertThat(pace.rate()).isEqualTo(MOST);
    }

    @Test
    void shouldGoAtTheHighestRateWhereNoClientsAreKnown() {
        assertThat(rateAfter(0)).isEqualTo(MOST);
        assertThat(rateAfter(CopyPace.QUIET_NS)).isEqualTo(MOST);
    }

    @Test
    void shouldDoubleWhileNothingIsWritten() {
        pace.yieldTo(writes::count);
        assertThat(rateAfter(0)).isEqualTo(LEAST);
        assertThat(rateAfter(CopyPace.WINDOW_NS)).isEqualTo(LEAST);
        assertThat(rateAfter(CopyPace.QUIET_NS - CopyPace.WINDOW_NS)).isEqualTo(2 * LEAST);
        assertThat(rateAfter(CopyPace.QUIET_NS)).isEqualTo(4 * LEAST);
    }

    @Test
    void shouldHalveWhileWritesTakeLongerAndNeverStop() {
        wrote(1_000, 800 * US);
        copyFast();
        long expected = MOST;
        for (int i = 0; i < 10; i++) {
            wrote(10, 3 * MS);
            expected = Math.max(LEAST, expected / 2);
            assertThat(rateAfter(CopyPace.WINDOW_NS)).isEqualTo(expected);
        }
        assertThat(expected).isEqualTo(LEAST);
    }

    @Test
    void shouldRiseWhileWritesTakeTheirUsualTime() {
        wrote(1_000, 800 * US);
        pace.yieldTo(writes::count);
        rateAfter(0);
        wrote(10, 2 * MS);
        assertThat(rateAfter(CopyPace.WINDOW_NS)).isEqualTo(LEAST + LEAST / 4);
        wrote(9, 2 * MS);
        wrote(1, 900 * MS);
        assertThat(rateAfter(CopyPace.WINDOW_NS)).as("one of ten is slow").isGreaterThan(LEAST + LEAST / 4);
        wrote(8, 2 * MS);
        wrote(2, 900 * MS);
        assertThat(rateAfter(CopyPace.WINDOW_NS)).as("two of ten are slow").isEqualTo(LEAST);
    }

    @Test
    void shouldNotDecideByFewWrites() {
        wrote(1_000, 800 * US);
        copyFast();
        wrote(4, 500 * MS);
        assertThat(rateAfter(CopyPace.WINDOW_NS)).isEqualTo(MOST);
        assertThat(rateAfter(CopyPace.QUIET_NS - CopyPace.WINDOW_NS))
                .as("there are no more")
                .isEqualTo(MOST / 2);
    }

    /** Threads went to sleep since the last one. */
    @Test
    void shouldNotTakeTenTimesForSlowWhereHardlyAnythingIsWritten() {
        wrote(1_000, 800 * US);
        pace.yieldTo(writes::count);
        rateAfter(0);
        for (int i = 1; i <= 5; i++) {
            wrote(4, 15 * MS);
            assertThat(rateAfter(CopyPace.QUIET_NS)).isEqualTo(LEAST << i);
        }
        wrote(4, 60 * MS);
        assertThat(rateAfter(CopyPace.QUIET_NS)).isEqualTo(MOST / 2);
        for (int i = 1; i < 10; i++) {
            wrote(4, 15 * MS);
            assertThat(rateAfter(CopyPace.QUIET_NS))
                    .as("others may stand still")
                    .isEqualTo(MOST / 2);
        }
        wrote(4, 15 * MS);
        assertThat(rateAfter(CopyPace.QUIET_NS)).isEqualTo(MOST);
        wrote(5, 15 * MS);
        assertThat(rateAfter(CopyPace.QUIET_NS)).as("these are enough").isEqualTo(MOST / 2);
    }

    /** What is usual is what was so without copies: also for the second of them. */
    @Test
    void shouldTakeTheTimesBetweenCopiesForUsual() {
        wrote(1_000, 800 * US);
        copyFast();
        wrote(100_000, 40 * MS);
        rateAfter(CopyPace.WINDOW_NS);
        pace.rest();
        wrote(1_000, 8 * MS);
        assertThat(rateAfter(CopyPace.QUIET_NS)).isEqualTo(LEAST);
        assertThat(rateAfter(CopyPace.QUIET_NS)).isEqualTo(2 * LEAST);
        wrote(10, 20 * MS);
        assertThat(rateAfter(CopyPace.WINDOW_NS)).isGreaterThan(2 * LEAST);
        wrote(10, 21 * MS);
        assertThat(rateAfter(CopyPace.WINDOW_NS)).isLessThan(2 * LEAST);
    }

    /** A device that is slow by itself: or copies would take for ever. */
    @Test
    void shouldTakeForUsualWhatTheLeastRateDoesNotMend() {
        wrote(1_000, 800 * US);
        pace.yieldTo(writes::count);
        rateAfter(0);
        for (int i = 0; i < CopyPace.SLOW_WINDOWS; i++) {
            wrote(10, 9 * MS);
            assertThat(rateAfter(CopyPace.WINDOW_NS)).isEqualTo(LEAST);
        }
        wrote(10, 9 * MS);
        rateAfter(CopyPace.WINDOW_NS);
        wrote(10, 9 * MS);
        assertThat(rateAfter(CopyPace.WINDOW_NS)).isGreaterThan(LEAST);
    }

    /** They are counted when they are done. */
    @Test
    void shouldNotTakeWritesThatStandStillForNone() {
        wrote(1_000, 800 * US);
        copyFast();
        wrote(10, 900 * MS);
        assertThat(rateAfter(CopyPace.WINDOW_NS)).isEqualTo(MOST / 2);
        for (int i = 1; i < 10; i++) {
            assertThat(rateAfter(CopyPace.QUIET_NS)).isEqualTo(MOST / 2);
        }
        assertThat(rateAfter(CopyPace.QUIET_NS)).isEqualTo(MOST);
    }

    /** A write that takes a millisecond is worth less than a second replica. */
    @Test
    void shouldNotMindMicroseconds() {
        wrote(1_000, 20 * US);
        pace.yieldTo(writes::count);
        rateAfter(0);
        wrote(10, 1_900 * US);
        assertThat(rateAfter(CopyPace.WINDOW_NS)).isGreaterThan(LEAST);
    }

    /** A server that has just started. */
    @Test
    void shouldAssumeAMillisecondBeforeMuchIsWritten() {
        wrote(99, 90 * MS);
        pace.yieldTo(writes::count);
        rateAfter(0);
        rateAfter(CopyPace.QUIET_NS);
        wrote(10, 2 * MS);
        assertThat(rateAfter(CopyPace.WINDOW_NS)).isGreaterThan(2 * LEAST);
        wrote(10, 3 * MS);
        assertThat(rateAfter(CopyPace.WINDOW_NS)).isLessThan(2 * LEAST);
    }
}
