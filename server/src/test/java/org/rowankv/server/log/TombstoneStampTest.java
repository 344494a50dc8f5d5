package org.rowankv.server.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;
import org.rowankv.runtime.CounterStarts;
import org.rowankv.runtime.SplittableRandomSource;
import org.rowankv.server.area.Area;
import org.rowankv.server.area.AreaSettings;
import org.rowankv.server.area.SegmentOwner;
import org.rowankv.server.durability.Durability;

/** The 32-bit encoding of a stamp in a frame, for 64-bit numbers. */
final class TombstoneStampTest {
    private static final long TELLABLE = (1L << 31) - 1;

    @Property
    void shouldTellAStampNearItsSegmentsNumberAsItWas(
            @ForAll @LongRange(min = 1L << 31, max = 1L << 62) long sequence,
            @ForAll @LongRange(min = -TELLABLE, max = TombstoneStamp.MOST_AHEAD) long distance) {
        final int field = TombstoneStamp.field(sequence + distance, sequence);
        assertThat(field).isNotEqualTo(TombstoneStamp.NONE);
        assertThat(TombstoneStamp.stamp(field, sequence)).isEqualTo(sequence + distance);
    }

    @Property
    void shouldTellAnOlderStampAsAYoungerOneOnly(
            @ForAll @LongRange(min = 1, max = 1L << 62) long stamp,
            @ForAll @LongRange(min = 0, max = 1L << 61) long behind) {
        final long sequence = stamp + behind;
        final int field = TombstoneStamp.field(stamp, sequence);
        assertThat(field).isNotEqualTo(TombstoneStamp.NONE);
        assertThat(TombstoneStamp.stamp(field, sequence))
                .isGreaterThanOrEqualTo(stamp)
                .isLessThanOrEqualTo(sequence);
    }

    @Test
    void shouldRefuseWhatAFieldCannotTell() {
        assertThatThrownBy(() -> TombstoneStamp.field(2 + TombstoneStamp.MOST_AHEAD, 1))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("in segment number 1");
    }

    /** So an open segment of a long idle cleaner is closed before it is used. */
    @Test
    void shouldCloseASegmentThatWasOpenedTooLongAgoToTellAStamp() {
        final Area area = Area.create(
                new AreaSettings(null, 16 << 16, 1 << 16, 0, 5, 1, Durability.NONE), new SplittableRandomSource(1));
        final Segments segments =
                new Segments(area, new SplittableRandomSource(2), 0, 12 << 16, CounterStarts.nearEnds(300));
        final AppendLog log = new AppendLog(segments, SegmentOwner.CLEAN);
        assertThat(log.ensureRoomForCopy(64)).isTrue();
        final int first = log.openSegment();
        assertThat(segments.sequence(first)).isEqualTo((1L << 31) - 299);

        area.segments().continueBehind(segments.sequence(first) + TombstoneStamp.MOST_AHEAD - 1);
        segments.free(segments.allocate(SegmentOwner.WORKER, 0));
        assertThat(log.ensureRoomForCopy(64)).isTrue();
        assertThat(log.openSegment()).isEqualTo(first);

        segments.free(segments.allocate(SegmentOwner.WORKER, 0));
        assertThat(log.ensureRoomForCopy(64)).isTrue();
        assertThat(log.openSegment()).isNotEqualTo(first);
        assertThat(segments.isClosed(first)).isTrue();
    }
}
