package org.rowankv.server.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.server.area.Area;
import org.rowankv.server.area.AreaSettings;
import org.rowankv.server.area.SegmentOwner;
import org.rowankv.server.area.SegmentState;
import org.rowankv.server.durability.Durability;
import org.rowankv.server.log.Segments;
import org.rowankv.server.shard.Replicas;
import org.rowankv.server.shard.ShardReplica;

final class CheckpointRegistryTest {
    private final Segments segments = new Segments(
            Area.create(
                    new AreaSettings(null, 1 << 20, 64 << 10, 0, 5, 1, Durability.NONE), new SplittableRandomSource(1)),
            new SplittableRandomSource(2),
            0,
            1 << 20);
    private final CheckpointRegistry book = new CheckpointRegistry(segments, new Replicas(new ShardReplica[1]));

    private int useSegment() {
        final int segment = segments.allocate(SegmentOwner.WORKER, 0);
        segments.close(segment, 64);
        segments.transition(segment, SegmentState.USING, SegmentState.COMMITTED);
        return segment;
    }

    private void round() {
        book.coverSegments();
        book.published(new Checkpoint(
                book.number(),
                new Checkpoint.Origin(5, 1, 0, 11, 0, 1, segments.count(), segments.length()),
                1,
                0,
                segments.lastSequence(),
                book.coveredSegments(),
                List.of()));
    }

    /** Images of earlier rounds reflect its earlier content. */
    @Test
    void shouldCoverASegmentThatWasUsedAnewSinceItsNewUse() {
        final int segment = useSegment();
        round();
        round();
        assertThat(book.coveredSegments()).singleElement().matches(line -> line.since() == 1);
        segments.free(segment);
        assertThat(useSegment()).isEqualTo(segment);

        round();

        assertThat(book.coveredSegments())
                .singleElement()
                .matches(line -> line.segment() == segment && line.since() == 3);
    }
}
