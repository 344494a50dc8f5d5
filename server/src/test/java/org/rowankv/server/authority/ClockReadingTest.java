package org.rowankv.server.authority;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ClockReadingTest {
    private static final long MS = TimeUnit.MILLISECONDS.toNanos(1);

    @Test
    void shouldCountTheClockThatAdvancedFurther() {
        final ClockReading before = new ClockReading(5 * MS, 1000);
        assertThat(new ClockReading(7 * MS, 1001).mostNsSince(before)).isEqualTo(2 * MS);
        assertThat(new ClockReading(7 * MS, 1400).mostNsSince(before)).isEqualTo(400 * MS);
        assertThat(new ClockReading(7 * MS, 10).mostNsSince(before)).isEqualTo(2 * MS);
    }

    @Test
    void shouldWaitByTheMonotonicClockOnly() {
        final ClockReading before = new ClockReading(5 * MS, 1000);
        assertThat(new ClockReading(7 * MS, 9000).leastNsSince(before)).isEqualTo(2 * MS);
    }

    @Test
    void shouldCompareReadingsAcrossTheOriginOfTheClock() {
        final ClockReading before = new ClockReading(Long.MAX_VALUE - 1, 0);
        final ClockReading after = new ClockReading(Long.MIN_VALUE + 1, 0);
        assertThat(after.leastNsSince(before)).isEqualTo(3);
        assertThat(before.orLater(after)).isEqualTo(after);
        assertThat(after.orLater(before)).isEqualTo(after);
    }

    @Test
    void shouldEndALeaseWhenItsHolderSlept() {
        final LeaseTimes times = LeaseTimes.of(400 * MS);
        final Lease lease = new Lease(new ClockReading(0, 1000));
        assertThat(lease.holds(new ClockReading(399 * MS, 1399), times)).isTrue();
        assertThat(lease.holds(new ClockReading(400 * MS, 1399), times)).isFalse();
        assertThat(lease.holds(new ClockReading(1, 1400), times)).isFalse();
    }

    @Test
    void shouldWaitLongerThanTheFastestClockOfTwoCanShorten() {
        final LeaseTimes times = LeaseTimes.of(400 * MS);
        assertThat(times.oneLeaseNs()).isEqualTo(481 * MS);
        assertThat(times.twoLeasesNs()).isEqualTo(962 * MS);
        // Both clocks slewed by 8.33 %, the holder's down and the waiter's up.
        assertThat((double) times.oneLeaseNs()).isGreaterThan(times.leaseNs() * 1.0833 / 0.9167);
        final LeaseTimes shortest = LeaseTimes.of(2 * MS);
        assertThat((double) shortest.oneLeaseNs()).isGreaterThan(shortest.leaseNs() * 1.0833 / 0.9167);
    }

    @Test
    void shouldRefuseLeasesOutOfRange() {
        assertThatThrownBy(() -> LeaseTimes.of(MS)).hasMessageContaining("at least 2 ms");
        assertThatThrownBy(() -> LeaseTimes.of(TimeUnit.HOURS.toNanos(2))).hasMessageContaining("an hour");
        assertThatThrownBy(() -> new LeaseTimes(5, 6)).hasMessageContaining("0..5");
        assertThatThrownBy(() -> new LeaseTimes(0, 0)).hasMessageContaining("1 ns");
    }
}
