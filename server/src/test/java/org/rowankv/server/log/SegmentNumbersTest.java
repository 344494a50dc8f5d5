package org.rowankv.server.log;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.server.area.Area;
import org.rowankv.server.area.AreaSettings;
import org.rowankv.server.area.SegmentOwner;
import org.rowankv.server.area.SegmentState;
import org.rowankv.server.durability.Durability;

/** Numbers of segments, and values derived from them, past the ends of 31 and 32 bits. */
final class SegmentNumbersTest {
    private static final int SEGMENT = 64 << 10;
    private static final int LENGTH = 128;

    private final Area area = Area.create(
            new AreaSettings(null, 16 * SEGMENT, SEGMENT, 0, 5, 1, Durability.NONE), new SplittableRandomSource(1));

    private Segments start() {
        return new Segments(area, new SplittableRandomSource(2), 0, 8 * SEGMENT);
    }

    private static int closed(Segments segments) {
        final int segment = segments.allocate(SegmentOwner.CLEAN, 0);
        segments.transition(segment, SegmentState.USING, SegmentState.COMMITTED);
        segments.close(segment, LENGTH);
        return segment;
    }

    @ParameterizedTest
    @ValueSource(longs = {0, (1L << 31) - 3, (1L << 32) - 3, (1L << 32) + (1L << 31) - 3, 1L << 40})
    void shouldKeepHorizonsAndStampsWhole(long begin) {
        area.segments().continueBehind(begin);
        final Segments segments = start();
        final int[] used = new int[6];
        for (int i = 0; i < used.length; i++) {
            used[i] = closed(segments);
            assertThat(segments.sequence(used[i])).isEqualTo(begin + 1 + i);
            assertThat(segments.horizon(used[i])).isEqualTo(begin + 1 + i);
        }
        assertThat(segments.lastSequence()).isEqualTo(begin + 6);
        assertThat(segments.tombstoneHorizon()).as("nothing is dead").isEqualTo(begin + 6);

        segments.markDead(area.addressOf(used[3]), LENGTH);
        assertThat(segments.tombstoneHorizon()).isEqualTo(begin + 4);
        segments.lowerHorizon(used[3], begin + 5);
        assertThat(segments.horizon(used[3])).as("lowered only").isEqualTo(begin + 4);
        segments.lowerHorizon(used[3], begin + 2);
        assertThat(segments.tombstoneHorizon()).isEqualTo(begin + 2);
        segments.raiseHorizon(used[3], begin + 1);
        assertThat(segments.horizon(used[3])).as("raised only").isEqualTo(begin + 2);
        segments.raiseHorizon(used[3], begin + 5);
        assertThat(segments.tombstoneHorizon()).isEqualTo(begin + 5);

        final int copies = segments.allocate(SegmentOwner.CLEAN, begin + 3);
        assertThat(segments.horizon(copies)).isEqualTo(begin + 3);
        final int field = TombstoneStamp.field(begin + 2, segments.sequence(copies));
        assertThat(segments.effectiveStamp(copies, field)).isEqualTo(begin + 2);
    }

    @ParameterizedTest
    @ValueSource(longs = {0, (1L << 31) - 3, (1L << 32) - 3, 1L << 40})
    void shouldTakeWhatAnEarlierRunLeftForAsOldAsEveryTombstoneOfIt(long begin) {
        area.segments().continueBehind(begin);
        final Segments before = start();
        final int first = closed(before);
        final int second = closed(before);
        final int last = closed(before);
        final int field = TombstoneStamp.field(begin + 1, before.sequence(second));

        final Segments segments = start();
        assertThat(segments.lastSequence()).isEqualTo(begin + 3);
        assertThat(segments.horizon(first)).isEqualTo(begin + 1);
        assertThat(segments.horizon(last)).isEqualTo(begin + 3);
        assertThat(segments.effectiveStamp(second, field)).isEqualTo(begin + 3);
        assertThat(segments.effectiveStamp(second, TombstoneStamp.NONE)).isEqualTo(begin + 3);

        final int fresh = closed(segments);
        assertThat(segments.sequence(fresh)).isEqualTo(begin + 4);
        assertThat(segments.effectiveStamp(fresh, TombstoneStamp.field(begin + 1, begin + 4)))
                .isEqualTo(begin + 1);
        assertThat(segments.effectiveStamp(fresh, TombstoneStamp.NONE)).isEqualTo(begin + 4);
    }

    @ParameterizedTest
    @ValueSource(longs = {0, (1L << 32) - 3, 1L << 40})
    void shouldNumberEachUseAnew(long begin) {
        area.segments().continueBehind(begin);
        final Segments segments = start();
        final int segment = closed(segments);
        assertThat(segments.use(segment)).isEqualTo(begin + 1);
        segments.free(segment);
        assertThat(segments.use(segment)).isZero();
        assertThat(closed(segments)).isEqualTo(segment);
        assertThat(segments.use(segment)).isEqualTo(begin + 2);
        assertThat(start().use(segment)).as("after a start").isEqualTo(begin + 2);
    }
}
