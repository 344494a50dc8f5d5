package org.rowankv.check.disturb;

/**
 * A round of one or two faults that has passed.
 *
 * @param text for people
 * @param fromNs when it began
 * @param healedNs when all servers served again
 */
public record Fault(String text, long fromNs, long healedNs) {
    /** How much of a stretch of time it took. */
    public long overlapNs(long beginNs, long endNs) {
        final long begin = fromNs - beginNs > 0 ? fromNs : beginNs;
        final long end = healedNs - endNs < 0 ? healedNs : endNs;
        return Math.max(0, end - begin);
    }

    public long lengthNs() {
        return healedNs - fromNs;
    }
}
