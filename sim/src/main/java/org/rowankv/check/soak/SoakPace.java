package org.rowankv.check.soak;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Operations per second in the first and the last minute of a run; in a short run, in its first and last quarter.
 * Confined to one thread.
 */
final class SoakPace {
    /** In runs of at least this many seconds, the last minute must reach nine tenths of the first one's rate. */
    private static final int JUDGED_FROM = 600;

    private static final double LEAST_SHARE = 0.9;

    private record Moment(long ns, long operations) {}

    private final int seconds;
    private final long windowNs;
    private final List<Moment> moments = new ArrayList<>();

    /** @param seconds length of the run */
    SoakPace(int seconds) {
        this.seconds = seconds;
        this.windowNs = TimeUnit.SECONDS.toNanos(Math.min(240, seconds)) / 4;
    }

    /**
     * Reports the number of completed operations.
     *
     * @param ns since the run began
     */
    void at(long ns, long operations) {
        moments.add(new Moment(ns, operations));
    }

    private static double rate(Moment from, Moment to) {
        return to.ns == from.ns ? 0 : (to.operations - from.operations) * 1e9 / (to.ns - from.ns);
    }

    /** From the beginning to the first sample after the window. */
    double first() {
        final Moment begun = new Moment(0, 0);
        for (Moment each : moments) {
            if (each.ns >= windowNs) {
                return rate(begun, each);
            }
        }
        return 0;
    }

    /** From the last sample before the window to the end. */
    double last() {
        if (moments.isEmpty()) {
            return 0;
        }
        final Moment end = moments.get(moments.size() - 1);
        for (int i = moments.size() - 1; i >= 0; i--) {
            if (end.ns - moments.get(i).ns >= windowNs) {
                return rate(moments.get(i), end);
            }
        }
        return 0;
    }

    /** Why the run has become slower, or null; null also for a run that is too short. */
    @Nullable
    String whySlower() {
        return seconds < JUDGED_FROM || last() >= LEAST_SHARE * first()
                ? null
                : String.format(
                        Locale.ROOT, "%,.0f operations/s in the last minute, %,.0f in the first", last(), first());
    }
}
