package org.rowankv.runtime.concurrent;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * How long things took, counted in fixed buckets of 1, 2 and 5 times each power of ten from a microsecond to ten seconds.
 * One thread at a time records, without allocation, lock or atomic addition; any number of readers see it soon. A reader may
 * see a count before the sum that belongs to it, or the other way round.
 */
public final class LatencyHistogram {
    private static final long[] BOUNDS_NS = bounds();
    /** By the number of leading zeros of a value: the first bucket that it can belong to. */
    private static final int[] FIRST = firstBuckets();

    private final AtomicLongArray counts = new AtomicLongArray(BOUNDS_NS.length + 1);
    private final AtomicLong sumNs = new AtomicLong();

    private static long[] bounds() {
        final long[] bounds = new long[22];
        int next = 0;
        for (long power = 1_000; power <= 1_000_000_000L; power *= 10) {
            bounds[next++] = power;
            bounds[next++] = 2 * power;
            bounds[next++] = 5 * power;
        }
        bounds[next++] = 10_000_000_000L;
        assert next == bounds.length;
        return bounds;
    }

    private static int[] firstBuckets() {
        final int[] first = new int[Long.SIZE + 1];
        for (int zeros = 0; zeros <= Long.SIZE; zeros++) {
            final long smallest = zeros == Long.SIZE ? 0 : Long.MIN_VALUE >>> zeros;
            first[zeros] = zeros == 0 ? BOUNDS_NS.length : bucketFrom(0, smallest);
        }
        return first;
    }

    private static int bucketFrom(int first, long ns) {
        int bucket = first;
        while (bucket < BOUNDS_NS.length && ns > BOUNDS_NS[bucket]) {
            bucket++;
        }
        return bucket;
    }

    /** How many buckets there are; the last one has no upper bound. */
    public static int buckets() {
        return BOUNDS_NS.length + 1;
    }

    /** The largest value of a bucket, not of the last, in ns. */
    public static long boundNs(int bucket) {
        return BOUNDS_NS[bucket];
    }

    /** So many things took that long; by the owner only. What took less than nothing, by a clock that was set back, took none. */
    public void record(long ns, long times) {
        final long taken = Math.max(0, ns);
        final int bucket = bucketFrom(FIRST[Long.numberOfLeadingZeros(taken)], taken);
        counts.setOpaque(bucket, counts.getPlain(bucket) + times);
        sumNs.setOpaque(sumNs.getPlain() + taken * times);
    }

    /** How many fell into a bucket, those of smaller ones not counted. */
    public long count(int bucket) {
        return counts.getOpaque(bucket);
    }

    /** All of them together, in ns. */
    public long sumNs() {
        return sumNs.getOpaque();
    }
}
