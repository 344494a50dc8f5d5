package org.rowankv.rdma.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.rowankv.rdma.QueuePair;

/** Further duties of a fabric whose receiver places the entries of all senders in one log. */
public abstract class ReceiverPlacedConformance extends FabricConformance {
    @Test
    void shouldReserveNothingWhenTheNextSegmentIsMissing() {
        receiver.post(0);
        final List<Completion> completed = new ArrayList<>();
        try (TestServer third = TestServer.open(fabric, 3, 1, SEGMENT);
                QueuePair pair = sender.connectTo(receiver);
                QueuePair other = third.connectTo(receiver)) {
            append(pair, 1, SEGMENT - 128);
            final List<Long> waiting = postUntilNotReady(pair, 100, 192, completed);
            assertThat(completed).isEmpty();
            // Messages that still fit land: nothing was lost, and no sender waits for another's message.
            append(other, 3, 128);
            assertThat(receiver.queue().landedLimit(0)).isEqualTo(SEGMENT);
            assertThat(landedIds()).containsExactly(1L, 3L);
            for (int segment = 1; segment < 8; segment++) {
                assertThat(receiver.post(segment)).isTrue();
            }
            awaitAll(pair, waiting.size(), completed);
            assertAllLanded(completed);
            assertThat(landedIds().subList(2, 2 + waiting.size())).isEqualTo(waiting);
        }
    }
}
