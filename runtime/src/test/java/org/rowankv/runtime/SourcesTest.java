package org.rowankv.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Time, randomness and chaos come from the injected sources. */
@Tag("jvm")
final class SourcesTest {
    @AfterEach
    void reset() {
        Chaos.reset();
    }

    @Test
    void shouldGiveTheSameNumbersForTheSameSeedOnEveryJdk() {
        final RandomSource random = new SplittableRandomSource(1234567);
        // The first numbers of the published SplitMix64 for this seed.
        assertThat(random.nextLong()).isEqualTo(6457827717110365317L);
        assertThat(random.nextLong()).isEqualTo(3203168211198807973L);
        assertThat(random.nextLong()).isEqualTo(Long.parseUnsignedLong("9817491932198370423"));
    }

    @Test
    void shouldForkIndependentlyOfWhatWasDrawn() {
        final RandomSource one = new SplittableRandomSource(5);
        final RandomSource two = new SplittableRandomSource(5);
        two.nextLong();
        assertThat(one.fork("digest").nextLong())
                .isEqualTo(two.fork("digest").nextLong())
                .isNotEqualTo(one.fork("clean").nextLong())
                .isNotEqualTo(new SplittableRandomSource(6).fork("digest").nextLong());
    }

    @Test
    void shouldDrawEvenlyWithinBounds() {
        final RandomSource random = new SplittableRandomSource(9);
        final int[] counts = new int[7];
        for (int i = 0; i < 70_000; i++) {
            counts[random.nextInt(7)]++;
        }
        for (final int count : counts) {
            assertThat(count).isBetween(9_500, 10_500);
        }
        assertThat(random.nextInt(1)).isZero();
        assertThat(random.nextInt(Integer.MAX_VALUE)).isNotNegative();
        assertThatThrownBy(() -> random.nextInt(0)).isInstanceOf(IllegalArgumentException.class);
        assertThat(SecureSeed.next()).isNotEqualTo(SecureSeed.next());
    }

    @Test
    void shouldMoveAManualClockOnlyWhenTold() {
        final ManualClock clock = new ManualClock(5_000_000, 100);
        assertThat(clock.wallMs()).isEqualTo(100);
        clock.advanceMs(7);
        assertThat(clock.nanoTime()).isEqualTo(12_000_000);
        assertThat(clock.wallMs()).isEqualTo(107);
        clock.skew(-50);
        assertThat(clock.nanoTime()).isEqualTo(12_000_000);
        assertThat(clock.wallMs()).isEqualTo(57);
        assertThatThrownBy(() -> clock.advanceNs(-1)).isInstanceOf(IllegalArgumentException.class);
        assertThat(SystemClock.INSTANCE.nanoTime()).isLessThanOrEqualTo(SystemClock.INSTANCE.nanoTime());
        assertThat(SystemClock.INSTANCE.wallMs()).isPositive();
    }

    @Test
    void shouldCountAndHandOnChaosPoints() {
        Chaos.point("a");
        final StringBuilder seen = new StringBuilder();
        Chaos.install(seen::append);
        Chaos.point("a");
        Chaos.point("b");
        assertThat(seen).hasToString("ab");
        assertThat(Chaos.hits("a")).isEqualTo(2);
        assertThat(Chaos.hits("c")).isZero();
        Chaos.reset();
        Chaos.point("a");
        assertThat(seen).hasToString("ab");
        assertThat(Chaos.hits("a")).isEqualTo(1);
    }
}
