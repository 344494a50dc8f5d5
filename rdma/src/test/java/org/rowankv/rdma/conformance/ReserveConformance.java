package org.rowankv.rdma.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rowankv.rdma.CompletionStatus;
import org.rowankv.rdma.EndpointSettings;
import org.rowankv.rdma.Fabric;
import org.rowankv.rdma.PostStatus;
import org.rowankv.rdma.QueuePair;
import org.rowankv.rdma.conformance.TestServer.Landed;

/** The last posted segment is for queue pairs that use the reserve, wherever in the segment before it the others are. */
@Timeout(value = 2, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
public abstract class ReserveConformance {
    private static final int STRIDES = 4;
    private static final int STRIDE = EndpointSettings.STRIDE;
    /** More than the posts of a sender that learns of the receiver's state late. */
    private static final int SEGMENTS = 24;

    private Fabric fabric;
    private TestServer receiver;
    private QueuePair plain;
    private QueuePair using;
    private final Entries entries = new Entries();
    private final List<Long> sent = new ArrayList<>();
    private int completed;

    /** With the last posted segment kept in reserve. */
    protected abstract Fabric createFabric();

    @BeforeEach
    void open() {
        fabric = createFabric();
        receiver = TestServer.open(fabric, 1, SEGMENTS, STRIDES * STRIDE);
        plain = TestServer.open(fabric, 2, 1, STRIDES * STRIDE).connectTo(receiver);
        using = TestServer.open(fabric, 3, 1, STRIDES * STRIDE).connectTo(receiver);
        using.useReserve();
    }

    @AfterEach
    void close() {
        plain.close();
        using.close();
        fabric.close();
    }

    private int post(QueuePair pair, long id, int strides) {
        return pair.send(id, entries.make(id, strides * STRIDE), 0, strides * STRIDE, 0);
    }

    private void land(QueuePair pair, long id, int strides) {
        int status;
        do {
            status = post(pair, id, strides);
        } while (status == PostStatus.RECEIVER_NOT_READY);
        assertThat(status).isEqualTo(PostStatus.POSTED);
        final List<Integer> statuses = new ArrayList<>();
        while (statuses.isEmpty()) {
            pair.poll((context, landed) -> statuses.add(landed), 1);
            Thread.onSpinWait();
        }
        assertThat(statuses).containsExactly(CompletionStatus.LANDED);
    }

    /** Posts until the receiver lacks a segment for it. Where the sender learns that late, its posts wait. */
    private void postUntilNotReady(long firstId, int strides) {
        int status;
        do {
            final long id = firstId + sent.size();
            status = post(plain, id, strides);
            if (status == PostStatus.POSTED) {
                sent.add(id);
            }
            plain.poll((context, landed) -> completed++, 10);
        } while (status != PostStatus.RECEIVER_NOT_READY);
    }

    private List<Long> landedIds() {
        return receiver.landed(0).stream().map(Landed::id).toList();
    }

    @Test
    void shouldKeepTheOnlySegmentForWhatUsesTheReserve() {
        receiver.post(0);
        postUntilNotReady(100, 1);
        assertThat(receiver.queue().landedLimit(0)).isZero();
        land(using, 1, 1);
        assertThat(landedIds()).containsExactly(1L);
        assertThat(post(plain, 99, 1)).isEqualTo(PostStatus.RECEIVER_NOT_READY);
    }

    /** The first entry has room before the reserve; the second, which has not, may not move on into it. */
    @ParameterizedTest
    @CsvSource({"1,4", "2,3", "3,2", "4,1", "4,4"})
    void shouldKeepTheLastSegmentWhenAnAppendMovesOn(int first, int second) {
        receiver.post(0);
        receiver.post(1);
        land(plain, 1, first);
        postUntilNotReady(100, second);
        assertThat(landedIds()).containsExactly(1L);
        assertThat(completed).isZero();
        land(using, 2, STRIDES);
        assertThat(landedIds()).containsExactly(1L, 2L);
        assertThat(receiver.queue().currentOrdinal()).isEqualTo(1);
        for (int segment = 2; segment < SEGMENTS; segment++) {
            receiver.post(segment);
        }
        while (completed < sent.size()) {
            plain.poll((context, landed) -> completed++, 10);
            Thread.onSpinWait();
        }
        final List<Long> all = new ArrayList<>(List.of(1L, 2L));
        all.addAll(sent);
        assertThat(landedIds()).isEqualTo(all);
    }
}
