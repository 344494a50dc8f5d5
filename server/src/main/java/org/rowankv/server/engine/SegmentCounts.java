package org.rowankv.server.engine;

import org.rowankv.server.area.SegmentMetaTable;
import org.rowankv.server.area.SegmentState;

/** How many segments of an area are in which state. Each segment is counted once, whatever moves meanwhile. */
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
