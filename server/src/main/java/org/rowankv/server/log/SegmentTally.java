package org.rowankv.server.log;

import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * A number per segment with many writers and few readers. Threads add in different arrays, by their ids, so that two
 * callers do not contend for the same cache lines with each object they replace. A sum is exact while no thread adds.
 * Thread-safe.
 */
final class SegmentTally {
    private static final int STRIPES = 8;

    private final AtomicIntegerArray[] stripes = new AtomicIntegerArray[STRIPES];

    SegmentTally(int segmentCount) {
        for (int i = 0; i < STRIPES; i++) {
            stripes[i] = new AtomicIntegerArray(segmentCount);
        }
    }

    void add(int segment, int delta) {
        stripes[(int) Thread.currentThread().getId() & STRIPES - 1].addAndGet(segment, delta);
    }

    int get(int segment) {
        int sum = 0;
        for (AtomicIntegerArray stripe : stripes) {
            sum += stripe.get(segment);
        }
        return sum;
    }

    void reset(int segment) {
        for (AtomicIntegerArray stripe : stripes) {
            stripe.set(segment, 0);
        }
    }
}
