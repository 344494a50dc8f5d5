package org.rowankv.bench.paper.figure;

/**
 * One line of the report.
 *
 * @param paper what the paper says, or what its text implies
 * @param found what came out
 */
public record ReportLine(Tier tier, String figure, Kind kind, String name, String paper, String found, boolean met) {
    /** What a line means. */
    public enum Kind {
        /** Expected: if it is missed the run fails. */
        BAR,
        /** Known not to agree; the list is fixed. */
        KNOWN,
        /** Put in, so it must come out. */
        INPUT
    }

    /** Whether it makes the run fail. */
    public boolean isMissed() {
        return kind == Kind.BAR && !met;
    }
}
