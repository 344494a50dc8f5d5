package org.rowankv.bench.paper.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.rowankv.bench.paper.memory.MemorySettings;
import org.rowankv.bench.paper.memory.PersistentMemory;

final class NetworkCardTest {
    private final EventQueue queue = new EventQueue();
    private final List<Long> persisted = new ArrayList<>();

    private NetworkCard card(PersistentMemory memory) {
        return new NetworkCard(queue, memory, 0);
    }

    @Test
    void shouldPlaceWritesOneBehindTheOtherAtStrides() {
        final PersistentMemory memory = new PersistentMemory(MemorySettings.OF_THE_PAPER);
        final NetworkCard card = card(memory);
        for (int i = 0; i < 4; i++) {
            card.arrive(0, NetworkCard.RECEIVER_PLACES, 60, persisted::add);
        }
        queue.runUntil(1_000_000);
        memory.evictAll(1_000_000);

        assertThat(memory.mediaBytes()).isEqualTo(256);
        assertThat(persisted).hasSize(4);
    }

    @Test
    void shouldTakeWritesInOrderAndOneAtATime() {
        final MemorySettings neverLate = new MemorySettings(3, 44, 1, 0, 1_000);
        final NetworkCard card = card(new PersistentMemory(neverLate));
        for (int i = 0; i < 1_000; i++) {
            card.arrive(0, NetworkCard.RECEIVER_PLACES, 64, persisted::add);
        }
        queue.runUntil(1_000_000);

        assertThat(persisted).hasSize(1_000).isSorted();
        assertThat(persisted.get(0)).isEqualTo(Costs.FLUSH);
        assertThat(persisted.get(999)).isBetween(Costs.FLUSH + 18_300, Costs.FLUSH + 18_400);
    }

    @Test
    void shouldWaitForMemoryThatLags() {
        final MemorySettings slow = new MemorySettings(1, 1, 1_000, 0, 1);
        final NetworkCard card = card(new PersistentMemory(slow));
        for (int i = 0; i < 100; i++) {
            card.arrive(0, i * 256L, 256, persisted::add);
        }
        queue.runUntil(1_000_000);

        // 98 lines are evicted before the last write is accepted, one in a microsecond, from when the second write
        // arrives.
        final long secondNs = (256 * Costs.CARD_BYTE_PS + 999) / 1000;
        assertThat(persisted).hasSize(100).isSorted();
        assertThat(persisted.get(99)).isEqualTo(secondNs + 98_000 + Costs.FLUSH);
    }
}
