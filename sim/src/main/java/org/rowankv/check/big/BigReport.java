package org.rowankv.check.big;

import java.util.List;

/**
 * The result of a check of values in parts.
 *
 * @param values puts that were acknowledged
 * @param reads of whole values
 * @param refused operations that failed as they may
 * @param lost acknowledged values that a later process did not find, nor a later one
 * @param mixed reads that were no whole value, or answered with what must never happen
 * @param orphans values whose parts were left at the end
 * @param problems in words
 */
public record BigReport(
        long values, long reads, long refused, long lost, long mixed, long orphans, List<String> problems) {
    public boolean isWell() {
        return values > 0 && reads > 0 && lost == 0 && mixed == 0 && orphans == 0 && problems.isEmpty();
    }

    /** The last line of the command. */
    public String text() {
        return "big: values=" + values + " reads=" + reads + " refused=" + refused + " lost=" + lost + " mixed=" + mixed
                + " orphans=" + orphans;
    }
}
