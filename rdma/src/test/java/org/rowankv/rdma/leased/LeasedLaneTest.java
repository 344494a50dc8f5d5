package org.rowankv.rdma.leased;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;
import org.rowankv.rdma.CreditSource;
import org.rowankv.rdma.EndpointSettings;
import org.rowankv.rdma.MemoryRegion;
import org.rowankv.rdma.conformance.AdjustableView;

/** A peer may write anything into its progress word. */
final class LeasedLaneTest {
    private static final int SEGMENT = 1024;
    private static final CreditSource NO_CREDIT = new CreditSource() {
        @Override
        public long acquire(long requested) {
            return 0;
        }

        @Override
        public void release(long bytes) {
            // There is none.
        }
    };

    private final EndpointSettings settings = new EndpointSettings(
            1,
            1,
            1,
            MemoryRegion.of(ByteBuffer.allocateDirect(8 * SEGMENT)),
            SEGMENT,
            0,
            8,
            NO_CREDIT,
            (from, incarnation, message) -> {},
            new AdjustableView(),
            null);
    private final LeasedLane lane = new LeasedLane(settings);

    private void write(long word) {
        lane.word().order(ByteOrder.LITTLE_ENDIAN).putLong(0, word);
    }

    private void assertAt(long ordinal, int limit) {
        assertThat(lane.currentOrdinal()).isEqualTo(ordinal);
        assertThat(ordinal < lane.postedCount() ? lane.landedLimit(ordinal) : 0).isEqualTo(limit);
    }

    @Test
    void shouldBelieveOnlyPositionsWithinTheLeases() {
        lane.add(3, 77);
        lane.add(4, 78);
        lane.begin(1);
        assertAt(0, 0);
        write(LanePosition.of(0, 2));
        assertAt(0, 128);
        write(LanePosition.of(1, 16));
        assertAt(1, SEGMENT);
        write(LanePosition.of(2, 0));
        assertAt(2, 0);
        for (long impossible : new long[] {
            LanePosition.of(0, 17), LanePosition.of(2, 1), LanePosition.of(3, 0), -1, Long.MIN_VALUE, Long.MAX_VALUE
        }) {
            write(impossible);
            assertAt(0, 0);
        }
    }

    /** The word of the former connection is that of a position which is closed. */
    @Test
    void shouldBeginWhereTheLastConnectionEnded() {
        lane.add(3, 77);
        lane.add(4, 78);
        lane.begin(1);
        write(LanePosition.of(0, 2));
        assertThat(lane.names(3)).isTrue();
        assertThat(lane.end()).isEmpty();
        assertThat(lane.endedAt()).isEqualTo(LanePosition.of(0, 2));
        assertAt(1, 0);
        assertThat(lane.names(3) || lane.names(4)).isFalse();
        lane.begin(2);
        assertAt(1, 0);
        assertThat(lane.names(3)).isFalse();
        assertThat(lane.names(4)).isTrue();
        write(LanePosition.of(0, 2));
        assertAt(1, 0);
    }

    /** It would be possible once so much is leased. */
    @Test
    void shouldForgetWhatAFormerConnectionLeftInTheWord() {
        lane.add(3, 77);
        lane.begin(1);
        write(LanePosition.of(1, 5));
        assertThat(lane.end()).isEmpty();
        lane.begin(2);
        lane.add(4, 78);
        assertAt(0, 0);
    }

    @Test
    void shouldWipeEachWordOfItsGenerationBehindTheEnd() {
        final ByteBuffer region = settings.region().buffer(0).duplicate().order(ByteOrder.LITTLE_ENDIAN);
        lane.add(3, 77);
        lane.add(4, 78);
        lane.begin(1);
        write(LanePosition.of(0, 2));
        region.putInt(3 * SEGMENT + 64, 77); // before the end
        region.putInt(3 * SEGMENT + 128, 77);
        region.putInt(3 * SEGMENT + 960, 77);
        region.putInt(3 * SEGMENT + 192, 78); // of no entry here
        region.putInt(4 * SEGMENT, 78);
        region.putInt(5 * SEGMENT, 78); // in no lease
        assertThat(lane.end()).containsExactly(3L * SEGMENT + 128, 3L * SEGMENT + 960, 4L * SEGMENT);
        assertThat(region.getInt(3 * SEGMENT + 64)).isEqualTo(77);
        assertThat(region.getInt(3 * SEGMENT + 128)).isZero();
        assertThat(region.getInt(4 * SEGMENT)).isZero();
        assertThat(region.getInt(3 * SEGMENT + 192)).isEqualTo(78);
        assertThat(region.getInt(5 * SEGMENT)).isEqualTo(78);
    }
}
