package org.rowankv.server;

import org.rowankv.server.pm.SegmentMetaTable;
import org.rowankv.server.pm.SegmentState;

/** How many segments of an area are in which state. Exact only while nothing moves. */
public record SegmentCounts(int free, int using, int used, int committed) {
    static SegmentCounts of(SegmentMetaTable table) {
        return new SegmentCounts(
                table.count(SegmentState.FREE),
                table.count(SegmentState.USING),
                table.count(SegmentState.USED),
                table.count(SegmentState.COMMITTED));
    }

    public int total() {
        return free + using + used + committed;
    }
}
