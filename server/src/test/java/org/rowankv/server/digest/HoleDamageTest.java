package org.rowankv.server.digest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.rowankv.protocol.Version;
import org.rowankv.rdma.FenceReport;
import org.rowankv.rdma.ReceiveQueue;
import org.rowankv.rdma.rowan.FrameDescriptor;
import org.rowankv.runtime.ManualClock;
import org.rowankv.server.area.SegmentOwner;
import org.rowankv.server.log.AppendLog;
import org.rowankv.server.log.EntryDescriptor;
import org.rowankv.server.log.EntryDraft;
import org.rowankv.server.log.EntryType;

/** A reserved place whose word stays empty for long, and one whose word was damaged. */
final class HoleDamageTest {
    private static final int HOLE_TIMEOUT_NS = 1_000;
    private static final byte[] KEY = "key".getBytes(StandardCharsets.US_ASCII);

    private final LandingServer server = new LandingServer();
    private final ManualClock clock = new ManualClock();
    private long address;
    private int length;
    private int fences;
    private boolean closed;
    private DigestAgent digest;

    private void land() {
        final AppendLog log = new AppendLog(server.segments, SegmentOwner.BACKUP);
        final EntryDraft draft = new EntryDraft()
                .begin(EntryType.PUT, 0, 1)
                .key(KEY, 0, KEY.length)
                .version(Version.of(1, 2))
                .value(KEY, 0, KEY.length);
        length = EntryDescriptor.aligned((int) draft.usedLength());
        assertThat(log.ensureRoom(length)).isTrue();
        address = log.append(draft, 1);
        final ReceiveQueue queue = new OneSegment();
        digest = new DigestAgent(queue, server.settings, server.segments, server.replicas, clock, HOLE_TIMEOUT_NS);
    }

    private void waitForTheHole() {
        for (int cycle = 0; cycle < 3; cycle++) {
            final int unused = digest.doWork();
            clock.advanceNs(2 * HOLE_TIMEOUT_NS);
        }
    }

    private void flipABitOfTheWord() {
        final ByteBuffer buffer = server.segments.region().buffer(address);
        final int at = server.segments.region().offset(address);
        buffer.put(at, (byte) (buffer.get(at) ^ 32));
    }

    @Test
    void shouldStopWhereABitOfThePublicationWordHasFlipped() {
        land();
        flipABitOfTheWord();

        assertThatThrownBy(this::waitForTheHole)
                .isInstanceOf(DamagedLandingError.class)
                .hasMessageContaining("publication word");
        assertThat(fences).isZero();
        assertThat(server.segments.area().superblock().isIncomplete()).isTrue();
    }

    @Test
    void shouldNotTakeAFlippedPublicationWordForTheEndOfAClosedSegment() {
        land();
        flipABitOfTheWord();
        closed = true;

        assertThatThrownBy(digest::doWork)
                .isInstanceOf(DamagedLandingError.class)
                .hasMessageContaining("publication word");
        assertThat(server.segments.area().superblock().isIncomplete()).isTrue();
    }

    @Test
    void shouldFenceAPlaceThatIsReservedAndNotPublished() {
        land();
        final ByteBuffer buffer = server.segments.region().buffer(address);
        final int at = server.segments.region().offset(address);
        final int generation = server.segments.generation(server.segments.segmentOf(address));
        FrameDescriptor.wordRelease(
                buffer,
                at,
                FrameDescriptor.word(generation, length / FrameDescriptor.STRIDE, FrameDescriptor.RESERVED));

        assertThat(digest.doWork()).isZero();
        clock.advanceNs(HOLE_TIMEOUT_NS);
        assertThat(digest.doWork()).isZero();
        assertThat(fences).as("its sender may still finish it").isZero();
        waitForTheHole();
        assertThat(fences).isPositive();
    }

    /** The entry's segment is posted, and no other. */
    private final class OneSegment implements ReceiveQueue {
        @Override
        public boolean post(int segment, int generation) {
            throw new AssertionError();
        }

        @Override
        public long postedCount() {
            return 1;
        }

        @Override
        public long currentOrdinal() {
            return 0;
        }

        @Override
        public int segmentAt(long ordinal) {
            return server.segments.segmentOf(address);
        }

        @Override
        public int generationAt(long ordinal) {
            return server.segments.generation(segmentAt(ordinal));
        }

        @Override
        public boolean isClosed(long ordinal) {
            return closed;
        }

        @Override
        public int landedLimit(long ordinal) {
            return length;
        }

        @Override
        public FenceReport fence(int serverId) {
            throw new AssertionError();
        }

        @Override
        public FenceReport fenceAll() {
            throw new AssertionError();
        }

        @Override
        public FenceReport fenceHole(int segment, int offset) {
            fences++;
            return new FenceReport(List.of(), 0, List.of(), 0);
        }

        @Override
        public boolean isNamed(int segment) {
            return false;
        }
    }
}
