package org.rowankv.check.disturb;

/**
 * A completed round of one or two faults.
 *
 * @param text for reports
 * @param fromNs its start
 * @param healedNs when all servers served again
 */
public record FaultRound(String text, long fromNs, long healedNs) {
    /** Overlap with an interval of time. */
    public long overlapNs(long beginNs, long endNs) {
        final long begin = fromNs - beginNs > 0 ? fromNs : beginNs;
        final long end = healedNs - endNs < 0 ? healedNs : endNs;
        return Math.max(0, end - begin);
    }

    public long lengthNs() {
        return healedNs - fromNs;
    }
}
