package org.rowankv.server.digest;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.rowankv.server.area.SegmentOwner;
import org.rowankv.server.log.Segments;

final class LandedTrackerTest {
    private static final int LENGTH = 128;

    private final LandingServer server = new LandingServer();
    private final Segments segments = server.segments;
    private final LandedTracker tracker = new LandedTracker(segments, server.replicas);

    /**
     * The charge of a segment must equal that of the entries found in it; otherwise it seems damaged, and is never
     * freed.
     */
    @Test
    void shouldCountTheBytesOfEachSegmentAlone() {
        for (int entries = 1; entries <= 5; entries++) {
            final int segment = segments.allocate(SegmentOwner.BACKUP, 0);
            for (int i = 0; i < entries; i++) {
                tracker.entry(segment, LENGTH, 0, 0);
            }
            tracker.closed(segment);
            assertThat(segments.entryBytes(segment)).isEqualTo(entries * segments.charge(LENGTH));
            assertThat(tracker.commit()).isEqualTo(1);
        }
    }
}
