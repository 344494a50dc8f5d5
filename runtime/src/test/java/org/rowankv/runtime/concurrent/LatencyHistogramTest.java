package org.rowankv.runtime.concurrent;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;

final class LatencyHistogramTest {
    private static int bucketOf(long ns) {
        int bucket = 0;
        while (bucket < LatencyHistogram.buckets() - 1 && ns > LatencyHistogram.boundNs(bucket)) {
            bucket++;
        }
        return bucket;
    }

    @Test
    void shouldHaveAscendingBoundsFromAMicrosecondToTenSeconds() {
        assertThat(LatencyHistogram.boundNs(0)).isEqualTo(1_000);
        assertThat(LatencyHistogram.boundNs(LatencyHistogram.buckets() - 2)).isEqualTo(10_000_000_000L);
        for (int bucket = 1; bucket < LatencyHistogram.buckets() - 1; bucket++) {
            assertThat(LatencyHistogram.boundNs(bucket)).isGreaterThan(LatencyHistogram.boundNs(bucket - 1));
        }
    }

    @Test
    void shouldCountEachValueInItsBucketAndSumThemUp() {
        final LatencyHistogram histogram = new LatencyHistogram();
        final long[] expected = new long[LatencyHistogram.buckets()];
        long sum = 0;
        final Random random = new Random(7);
        for (int i = 0; i < 20_000; i++) {
            // Every magnitude, and both sides of every bound.
            final long ns = i % 3 == 0
                    ? LatencyHistogram.boundNs(random.nextInt(LatencyHistogram.buckets() - 1)) + random.nextInt(3) - 1
                    : random.nextLong() >>> 20 + random.nextInt(44);
            final int times = 1 + random.nextInt(3);
            histogram.record(ns, times);
            expected[bucketOf(ns)] += times;
            sum += ns * times;
        }

        for (int bucket = 0; bucket < expected.length; bucket++) {
            assertThat(histogram.count(bucket)).as("bucket %d", bucket).isEqualTo(expected[bucket]);
            assertThat(expected[bucket]).isPositive();
        }
        assertThat(histogram.sumNs()).isEqualTo(sum);
    }

    @Test
    void shouldTakeTheLongestAndWhatTookLessThanNothing() {
        final LatencyHistogram histogram = new LatencyHistogram();
        histogram.record(Long.MAX_VALUE, 1);
        histogram.record(-5, 2);
        histogram.record(0, 1);

        assertThat(histogram.count(LatencyHistogram.buckets() - 1)).isEqualTo(1);
        assertThat(histogram.count(0)).isEqualTo(3);
        assertThat(histogram.sumNs()).isEqualTo(Long.MAX_VALUE);
    }
}
