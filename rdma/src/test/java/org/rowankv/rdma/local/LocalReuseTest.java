package org.rowankv.rdma.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.rdma.FenceReport;
import org.rowankv.rdma.PostStatus;
import org.rowankv.rdma.QueuePair;
import org.rowankv.rdma.ReceiveQueue;
import org.rowankv.rdma.conformance.Entries;
import org.rowankv.rdma.conformance.Stall;
import org.rowankv.rdma.conformance.TestServer;
import org.rowankv.rdma.conformance.TestServer.Landed;
import org.rowankv.rdma.rowan.LandingCursor;
import org.rowankv.runtime.Chaos;

/** A sender sleeps while all segments but the named one are reused several times. */
final class LocalReuseTest {
    private static final int SEGMENT = 256;

    private final LocalFabric fabric = new LocalFabric();
    private final TestServer receiver = TestServer.open(fabric, 1, 3, SEGMENT);
    private final QueuePair sleeper = TestServer.open(fabric, 2, 1, SEGMENT).connectTo(receiver);
    private final QueuePair busy = TestServer.open(fabric, 3, 1, SEGMENT).connectTo(receiver);
    private final LandingCursor cursor = receiver.cursor();
    private final List<Long> read = new ArrayList<>();
    private long sent;

    @AfterEach
    void close() {
        Chaos.reset();
        fabric.close();
    }

    private int send(QueuePair pair, long id, int strides) {
        final int status = pair.send(id, new Entries().make(id, strides * 64), 0, strides * 64, 0);
        pair.poll((context, completed) -> {}, 10);
        return status;
    }

    private void readOn() {
        receiver.read(cursor, 0).stream().map(Landed::id).forEach(read::add);
    }

    /** Appends, reads, and posts again the segments behind the reader that no hazard word names. */
    private void goRound(int appends) {
        long freed = cursor.ordinal();
        for (int i = 0; i < appends; i++) {
            if (send(busy, sent + 1, 2 + i % 3) == PostStatus.POSTED) {
                sent++;
            }
            readOn();
            while (freed < cursor.ordinal()) {
                final int segment = receiver.queue().segmentAt(freed);
                if (!receiver.queue().isNamed(segment)) {
                    assertThat(receiver.post(segment)).isTrue();
                }
                freed++;
            }
        }
    }

    /** Two entries, so that a helper of the second would write into the middle of another segment's first. */
    private void begin() {
        receiver.postAll();
        send(busy, ++sent, 1);
        send(busy, ++sent, 1);
    }

    /** Until the current segment has the slot that segment 0 had when it was posted first, and an entry lies in it. */
    private void goRoundToTheSameSlot() {
        goRound(40);
        final int slots = 4;
        final ReceiveQueue queue = receiver.queue();
        while (queue.currentOrdinal() % slots != 0 || queue.landedLimit(queue.currentOrdinal()) == 0) {
            goRound(1);
        }
        assertThat(queue.currentOrdinal()).isGreaterThan(slots);
        assertThat(queue.segmentAt(queue.currentOrdinal())).isNotZero();
    }

    private void assertTheCurrentSegmentIsUnchanged() {
        final LandingCursor again = receiver.cursor();
        again.position(receiver.queue().currentOrdinal(), 0);
        assertThat(receiver.read(again, 0)).isNotEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"local.after-permission", "local.after-help", "local.after-hazard"})
    void shouldNotWriteByAPostingWhoseSlotWasTakenWhileTheSenderSlept(String point) {
        begin();
        try (Stall<Integer> stall = Stall.at(point, () -> send(sleeper, 1_000_000, 1))) {
            goRoundToTheSameSlot();
            stall.release();
            assertTheCurrentSegmentIsUnchanged();
        }
        readOn();
        assertThat(read).contains(1_000_000L).doesNotHaveDuplicates();
    }

    @ParameterizedTest
    @ValueSource(strings = {"local.fence-raised", "local.fence-named", "local.fence-helps"})
    void shouldNotWriteByAPostingWhoseSlotWasTakenWhileTheFencerSlept(String point) {
        begin();
        try (Stall<FenceReport> stall = Stall.at(point, () -> receiver.queue().fence(2))) {
            if (point.equals("local.fence-raised")) {
                goRound(40);
            } else {
                goRoundToTheSameSlot();
            }
            stall.release();
            assertTheCurrentSegmentIsUnchanged();
        }
    }

    @Test
    void shouldRefuseToFindForgottenSegments() {
        receiver.postAll();
        goRound(40);
        assertThat(receiver.queue().segmentAt(cursor.ordinal())).isBetween(0, 2);
        assertThatThrownBy(() -> receiver.queue().segmentAt(0)).hasMessageContaining("slot");
        assertThatThrownBy(() -> receiver.queue().segmentAt(receiver.queue().postedCount()))
                .hasMessageContaining("not posted");
    }
}
