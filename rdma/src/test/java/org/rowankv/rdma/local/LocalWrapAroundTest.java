package org.rowankv.rdma.local;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.rowankv.rdma.PostStatus;
import org.rowankv.rdma.QueuePair;
import org.rowankv.rdma.conformance.Entries;
import org.rowankv.rdma.conformance.TestServer;
import org.rowankv.rdma.conformance.TestServer.Landed;
import org.rowankv.rdma.rowan.LandingCursor;
import org.rowankv.runtime.CounterStarts;

/** The ring word's ordinal of 24 bits and epoch of 11 bits come round. */
final class LocalWrapAroundTest {
    private static final int SEGMENT = 256;

    private final LocalFabric fabric =
            new LocalFabric(LocalFabricSettings.defaults().withCounters(CounterStarts.nearEnds(20)));
    private final TestServer receiver = TestServer.open(fabric, 1, 3, SEGMENT);
    private final TestServer sender = TestServer.open(fabric, 2, 1, SEGMENT);

    @AfterEach
    void close() {
        fabric.close();
    }

    @Test
    void shouldLandInOrderWhileOrdinalsAndEpochsComeRound() {
        final LandingCursor cursor = receiver.cursor();
        final List<Long> read = new ArrayList<>();
        final List<Long> sent = new ArrayList<>();
        receiver.postAll();
        long freed = cursor.ordinal();
        assertThat(freed).isEqualTo((1L << 24) - 21);
        QueuePair pair = sender.connectTo(receiver);
        for (long id = 1; id < 300; id++) {
            final int strides = 1 + (int) (id % 3);
            if (pair.send(id, new Entries().make(id, strides * 64), 0, strides * 64, 0) == PostStatus.POSTED) {
                sent.add(id);
            }
            pair.poll((context, completed) -> {}, 10);
            receiver.read(cursor, 0).stream().map(Landed::id).forEach(read::add);
            for (; freed < cursor.ordinal(); freed++) {
                assertThat(receiver.post(receiver.queue().segmentAt(freed))).isTrue();
            }
            if (id % 20 == 0) {
                receiver.queue().fence(2);
                pair = sender.connectTo(receiver);
            }
        }
        assertThat(sent).hasSizeGreaterThan(250);
        assertThat(read).isEqualTo(sent);
        assertThat(receiver.queue().currentOrdinal()).isGreaterThan((1L << 24) + 50);
    }
}
