package org.rowankv.server.engine;

import org.rowankv.server.area.SegmentMetaTable;
import org.rowankv.server.area.SegmentState;

/** Numbers of an area's segments by state. Each segment is counted once, despite concurrent changes. */
public record SegmentCounts(int free, int using, int used, int committed) {
    static SegmentCounts of(SegmentMetaTable table) {
        final int[] counts = new int[SegmentState.values().length];
        for (int segment = 0; segment < table.segmentCount(); segment++) {
            counts[table.state(segment).ordinal()]++;
        }
        return new SegmentCounts(
                counts[SegmentState.FREE.ordinal()],
                counts[SegmentState.USING.ordinal()],
                counts[SegmentState.USED.ordinal()],
                counts[SegmentState.COMMITTED.ordinal()]);
    }

    public int total() {
        return free + using + used + committed;
    }
}
