package org.rowankv.server.resync;

import org.jspecify.annotations.Nullable;
import org.rowankv.runtime.concurrent.LatencyHistogram;

/**
 * How fast copies may go beside the writes of clients. The rate begins at its least. It is halved while nine of ten
 * writes are not done within twice the time that they took before the copies began; otherwise it rises, faster while
 * hardly anything is written. Copies that take all processors, or the network, show in those times wherever they do so:
 * at this server or at a backup.
 *
 * <p>Used by one agent; any thread sets the times.
 */
final class CopyPace {
    /** Between two decisions. */
    static final long WINDOW_NS = 250_000_000;
    /** So long without a write, nothing is written. */
    static final long QUIET_NS = 1_000_000_000;
    /** The least rate is this part of the highest: redundancy comes back, however busy the servers are. */
    static final int LEAST = 32;

    /** At the least rate: after so many windows of slow writes they count as usual. */
    static final int SLOW_WINDOWS = 40;
    /** After slow writes: so long without one. */
    private static final int QUIET_WINDOWS = 10;

    private static final int BUCKETS = LatencyHistogram.buckets();
    /** Writes that decide. */
    private static final int ENOUGH = 5;
    /**
     * Buckets, so about ten times, by which fewer may be slower: between them threads go to sleep and processors slow
     * down, without any copies.
     */
    private static final int SLACK_OF_FEW = 3;
    /** Writes from which it is known how long they usually take. */
    private static final int ENOUGH_BEFORE = 100;
    /** A millisecond: what is faster need not stay so. Assumed where little was written. */
    private static final int LEAST_USUAL = bucketOfAMillisecond();

    private final long most;
    private final long least;
    private volatile @Nullable WriteTimes times;
    /** By bucket: when the last copy ended, or nothing. */
    private final long[] atRest = new long[BUCKETS];
    /** By bucket: at the last decision. */
    private final long[] decided = new long[BUCKETS];

    private boolean copying;
    /** Whether {@link #atRest} is of this agent's time: the times may be older than the agent. */
    private boolean rested;
    /** Windows in a row with slow writes, at the least rate. */
    private int slowWindows;
    /** Windows in a row without writes. */
    private int quietWindows;

    private int usual = LEAST_USUAL;
    private long rate;
    private long decidedNs;

    /** @param most bytes per second, for all copies of a server together */
    CopyPace(long most) {
        this.most = most;
        this.least = Math.max(1, most / LEAST);
        this.rate = most;
    }

    private static int bucketOfAMillisecond() {
        int bucket = 0;
        while (LatencyHistogram.boundNs(bucket) < 1_000_000) {
            bucket++;
        }
        return bucket;
    }

    /** Without them, copies go at the highest rate. */
    void yieldTo(WriteTimes newTimes) {
        times = newTimes;
    }

    private void begin(WriteTimes writes, long nowNs) {
        copying = true;
        slowWindows = 0;
        quietWindows = 0;
        if (countSince(writes, atRest) >= ENOUGH_BEFORE) {
            usual = Math.max(LEAST_USUAL, nineOfTen(writes, atRest));
        }
        rate = least;
        decide(writes, nowNs);
    }

    /** No copy is under way any more: from now on writes take their usual time. */
    void rest() {
        final WriteTimes writes = times;
        if (writes != null && (copying || !rested)) {
            copying = false;
            rested = true;
            note(writes, atRest);
        }
    }

    /** As at the last call of {@link #bytesPerSecond}. */
    long rate() {
        return rate;
    }

    /** The highest rate now, while something is copied. */
    long bytesPerSecond(long nowNs) {
        final WriteTimes writes = times;
        if (writes == null) {
            return most;
        }
        if (!copying) {
            begin(writes, nowNs);
        }
        final long passedNs = nowNs - decidedNs;
        if (passedNs < WINDOW_NS) {
            return rate;
        }
        final long count = countSince(writes, decided);
        if (count >= ENOUGH || passedNs >= QUIET_NS) {
            rate = decidedRate(writes, count);
            decide(writes, nowNs);
        }
        return rate;
    }

    private long decidedRate(WriteTimes writes, long count) {
        if (count == 0) {
            return rateWithoutWrites();
        }
        final int slowest = nineOfTen(writes, decided);
        return count >= ENOUGH || slowest > usual + 1 + SLACK_OF_FEW ? rateBesideWrites(slowest) : rateWithoutWrites();
    }

    /** Or hardly any. Slow ones may not be done yet. */
    private long rateWithoutWrites() {
        return ++quietWindows < (slowWindows > 0 ? QUIET_WINDOWS : 1) ? rate : Math.min(most, 2 * rate);
    }

    private long rateBesideWrites(int slowest) {
        quietWindows = 0;
        if (slowest <= usual + 1) {
            slowWindows = 0;
            return Math.min(most, rate + rate / 4);
        }
        slowWindows = rate > least ? 1 : slowWindows + 1;
        if (slowWindows > SLOW_WINDOWS) {
            usual = slowest; // with hardly any copies: so it is not because of them
            slowWindows = 0;
        }
        return Math.max(least, rate / 2);
    }

    private void decide(WriteTimes writes, long nowNs) {
        note(writes, decided);
        decidedNs = nowNs;
    }

    private static void note(WriteTimes writes, long[] counts) {
        for (int bucket = 0; bucket < BUCKETS; bucket++) {
            counts[bucket] = writes.count(bucket);
        }
    }

    private static long countSince(WriteTimes writes, long[] before) {
        long count = 0;
        for (int bucket = 0; bucket < BUCKETS; bucket++) {
            count += writes.count(bucket) - before[bucket];
        }
        return count;
    }

    /** The bucket up to which nine of ten writes are. The bounds of buckets go up by 2 or 2.5. */
    private static int nineOfTen(WriteTimes writes, long[] before) {
        final long count = countSince(writes, before);
        long upTo = 0;
        for (int bucket = 0; bucket < BUCKETS; bucket++) {
            upTo += writes.count(bucket) - before[bucket];
            if (upTo * 10 >= count * 9) {
                return bucket;
            }
        }
        return BUCKETS - 1;
    }
}
