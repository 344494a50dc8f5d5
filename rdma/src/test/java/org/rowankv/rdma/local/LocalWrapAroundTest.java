package org.rowankv.rdma.local;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.rdma.CompletionStatus;
import org.rowankv.rdma.PostStatus;
import org.rowankv.rdma.QueuePair;
import org.rowankv.rdma.conformance.Entries;
import org.rowankv.rdma.conformance.Stall;
import org.rowankv.rdma.conformance.TestServer;
import org.rowankv.rdma.conformance.TestServer.Landed;
import org.rowankv.rdma.rowan.LandingCursor;
import org.rowankv.runtime.Chaos;
import org.rowankv.runtime.CounterStarts;

/** The ring word's ordinal of 24 bits and epoch of 11 bits wrap around. */
final class LocalWrapAroundTest {
    private static final int SEGMENT = 256;

    private final LocalFabric fabric =
            new LocalFabric(LocalFabricSettings.of(with -> with.counters = CounterStarts.nearEnds(20)));
    private final TestServer receiver = TestServer.open(fabric, 1, 3, SEGMENT);
    private final TestServer sender = TestServer.open(fabric, 2, 1, SEGMENT);

    @AfterEach
    void close() {
        Chaos.reset();
        fabric.close();
    }

    /** The sender finds the ring word unchanged, although the epoch is another one. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "local.after-read",
                "local.after-name",
                "local.after-permission",
                "local.after-help",
                "local.after-hazard"
            })
    void shouldLandNothingOfAFencedSenderThatSleepsUntilTheEpochWrapsAround(String point) {
        final LandingRing ring = ((LocalEndpoint) receiver.endpoint()).ring();
        receiver.postAll();
        assertThat(land(sender.connectTo(receiver), 1)).isEqualTo(CompletionStatus.LANDED);
        final QueuePair sleeper = sender.connectTo(receiver);
        try (Stall<Integer> stall = Stall.at(point, () -> land(sleeper, 2))) {
            final long before = ring.word();
            receiver.queue().fence(2);
            for (int fences = 1; fences <= RingWord.MAX_EPOCH; fences++) {
                receiver.queue().fence(99);
            }
            assertThat(ring.word()).isEqualTo(before);
            assertThat(stall.release()).isNotEqualTo(CompletionStatus.LANDED);
        }
        assertThat(land(sender.connectTo(receiver), 3)).isEqualTo(CompletionStatus.LANDED);
        assertThat(receiver.landed(0)).extracting(Landed::id).containsExactly(1L, 3L);
    }

    /** The status of its completion; -1 if it was not posted. */
    private static int land(QueuePair pair, long id) {
        final int[] status = {-1};
        if (pair.send(id, new Entries().make(id, 64), 0, 64, 0) == PostStatus.POSTED) {
            pair.poll((context, completed) -> status[0] = completed, 1);
        }
        return status[0];
    }

    @Test
    void shouldLandInOrderWhileOrdinalsAndEpochsWrapAround() {
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
