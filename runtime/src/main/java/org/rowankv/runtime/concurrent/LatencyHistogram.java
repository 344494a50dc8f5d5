package org.rowankv.runtime.concurrent;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * A histogram of durations in fixed buckets: 1, 2 and 5 times each power of ten, from 1 µs to 10 s. One thread at a
 * time records, without allocation, lock or atomic addition; any number of readers see updates soon. Count and sum may
 * be briefly inconsistent for a reader.
 */
public final class LatencyHistogram {
    private static final long[] BOUNDS_NS = bounds();
    /** First candidate bucket, by the number of leading zeros of a value. */
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

    /** Number of buckets; the last one has no upper bound. */
    public static int buckets() {
        return BOUNDS_NS.length + 1;
    }

    /** Upper bound of a bucket in ns; not for the last one. */
    public static long boundNs(int bucket) {
        return BOUNDS_NS[bucket];
    }

    /**
     * Records this duration {@code times} times. Owner only. A negative duration, from a clock that was set back,
     * counts as zero.
     */
    public void record(long ns, long times) {
        final long taken = Math.max(0, ns);
        final int bucket = bucketFrom(FIRST[Long.numberOfLeadingZeros(taken)], taken);
        counts.setOpaque(bucket, counts.getPlain(bucket) + times);
        sumNs.setOpaque(sumNs.getPlain() + taken * times);
    }

    /** Count of one bucket, smaller ones excluded. */
    public long count(int bucket) {
        return counts.getOpaque(bucket);
    }

    /** Sum of all recorded durations, in ns. */
    public long sumNs() {
        return sumNs.getOpaque();
    }
}
