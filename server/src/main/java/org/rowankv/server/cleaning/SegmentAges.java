package org.rowankv.server.cleaning;

import java.util.Arrays;
import org.rowankv.server.log.Segments;

/**
 * When what lives in a segment was written, in segments opened since the store was made: its own number, or for a segment
 * of copies the mean of where its bytes come from. In DRAM only: after a restart, and in the hands of another cleaner,
 * copies count as old as their segment. Used by the cleaner's thread.
 */
final class SegmentAges {
    private final Segments segments;
    /** Of which use the sums are: the segment's number. */
    private final int[] uses;

    private final long[] copiedBytes;
    /** Bytes times the birth of where they come from, relative to the segment's number so that it cannot overflow. */
    private final long[] weighted;

    SegmentAges(Segments segments) {
        this.segments = segments;
        this.uses = new int[segments.count()];
        this.copiedBytes = new long[segments.count()];
        this.weighted = new long[segments.count()];
        Arrays.fill(uses, -1);
    }

    /** So many bytes that were written about then were copied to an open segment. */
    void copied(int segment, int bytes, int birth) {
        final int use = segments.sequence(segment);
        if (uses[segment] != use) {
            uses[segment] = use;
            copiedBytes[segment] = 0;
            weighted[segment] = 0;
        }
        copiedBytes[segment] += bytes;
        weighted[segment] += (long) bytes * (use - birth);
    }

    /** The mean number of the segments that what lives here was written to. */
    int birth(int segment) {
        final int use = segments.sequence(segment);
        return uses[segment] == use ? use - (int) (weighted[segment] / copiedBytes[segment]) : use;
    }

    /** Segments opened since then; at least 1. */
    int age(int segment) {
        return Math.max(1, segments.lastSequence() - birth(segment) + 1);
    }
}
