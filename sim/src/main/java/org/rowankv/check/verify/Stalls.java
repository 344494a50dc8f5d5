package org.rowankv.check.verify;

import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import org.rowankv.runtime.ChaosHandler;
import org.rowankv.runtime.RandomSource;

/**
 * Chaos handler that parks some of the threads in the middle of an append, for up to a few milliseconds: long enough to
 * be fenced, overtaken and retried meanwhile. Safe for any thread.
 */
final class Stalls implements ChaosHandler {
    private static final Set<String> PLACES = Set.of(
            "local.after-hazard",
            "local.after-reserve",
            "local.mid-copy",
            "local.before-publish",
            "request.after-version",
            "request.after-tlog",
            "request.before-index",
            "request.before-reply");
    private static final int STRIPES = 32;
    private static final int LONGEST_STALL_MICROS = 25_000;

    private final RandomSource[] dice = new RandomSource[STRIPES];
    private final Tally tally;
    private final int oneIn;

    /** @param oneIn one in this many passing threads is stalled */
    Stalls(RandomSource random, Tally tally, int oneIn) {
        this.tally = tally;
        this.oneIn = oneIn;
        for (int i = 0; i < STRIPES; i++) {
            dice[i] = random.fork("stalls " + i);
        }
    }

    @Override
    public void onPoint(String name) {
        if (!PLACES.contains(name)) {
            return;
        }
        final RandomSource die = dice[(int) Thread.currentThread().getId() & STRIPES - 1];
        final long micros;
        synchronized (die) {
            micros = die.nextInt(oneIn) > 0 ? 0 : 1 + die.nextInt(1 + die.nextInt(LONGEST_STALL_MICROS));
        }
        if (micros > 0) {
            tally.count("stall." + name);
            LockSupport.parkNanos(1_000 * micros);
        }
    }
}
