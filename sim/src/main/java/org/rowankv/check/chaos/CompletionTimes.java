package org.rowankv.check.chaos;

import java.util.Arrays;

/** The times at which operations completed, in order. Thread-safe. */
final class CompletionTimes {
    private long[] timesNs = new long[1 << 10];
    private int count;

    synchronized void add(long nowNs) {
        if (count == timesNs.length) {
            timesNs = Arrays.copyOf(timesNs, 2 * count);
        }
        timesNs[count++] = nowNs;
    }

    /** Forgets all but the newest. */
    synchronized void forget() {
        if (count > 0) {
            timesNs[0] = timesNs[count - 1];
            count = 1;
        }
    }

    /**
     * The longest time without a completion that overlaps an interval: it may have begun before, and goes on to the end if
     * nothing completed.
     */
    synchronized long longestGapNs(long fromNs, long toNs) {
        long longest = 0;
        long before = fromNs;
        for (int i = 0; i < count; i++) {
            final long at = timesNs[i];
            if (at - fromNs <= 0) {
                before = at;
            } else if (at - toNs >= 0) {
                break;
            } else {
                longest = Math.max(longest, at - before);
                before = at;
            }
        }
        return Math.max(longest, toNs - before);
    }
}
