package org.rowankv.server.frontend;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.rowankv.server.dispatch.PollableCall;

/** Which requests a waiting one delays, and which not. */
final class WaitingRequestsTest {
    /** Shards whose requests find no slot. */
    private final Set<Integer> full = new HashSet<>();
    /** Slots left; requests of any shard find none at 0. */
    private int slots = Integer.MAX_VALUE;

    private final WaitingRequests waiting = new WaitingRequests();
    private final List<PendingRequest> answered = new ArrayList<>();
    private final List<PendingRequest> begun = new ArrayList<>();
    private final Set<PendingRequest> slow = new HashSet<>();

    private final class Call implements PollableCall {
        private boolean hasSlot;

        @Override
        public void again() {}

        @Override
        public boolean step() {
            throw new AssertionError("stepped without the pipeline");
        }

        boolean step(PendingRequest request) {
            hasSlot = slots > 0 && !full.contains(request.shard());
            if (hasSlot) {
                slots--;
            }
            return hasSlot && !slow.contains(request);
        }

        @Override
        public boolean awaitsWorker() {
            return !hasSlot;
        }
    }

    private PendingRequest arrives(int shard) {
        final PendingRequest one = new PendingRequest(request -> new Call());
        one.arrived(null, 0, shard, 1, 0);
        waiting.add(one);
        return one;
    }

    private void step() {
        waiting.step(
                request -> {
                    final boolean isAnswered = ((Call) request.call()).step(request);
                    if (isAnswered) {
                        answered.add(request);
                    }
                    return isAnswered;
                },
                begun);
    }

    @Test
    void shouldLetOthersPassThoseOfAShardWithoutSlots() {
        full.add(2);
        final PendingRequest stuck = arrives(2);
        final PendingRequest other = arrives(0);
        final PendingRequest behind = arrives(2);
        final PendingRequest last = arrives(1);
        step();
        assertThat(answered).containsExactly(other, last);
        assertThat(waiting.isEmpty()).isFalse();

        full.clear();
        step();
        assertThat(answered).containsExactly(other, last, stuck, behind);
        assertThat(waiting.isEmpty()).isTrue();
    }

    @Test
    void shouldKeepTheOrderWithinAShard() {
        slots = 0;
        final List<PendingRequest> all = List.of(arrives(3), arrives(3), arrives(3), arrives(3));
        step();
        assertThat(answered).isEmpty();
        for (int i = 1; i <= all.size(); i++) {
            slots = 1;
            step();
            assertThat(answered).isEqualTo(all.subList(0, i));
        }
    }

    @Test
    void shouldBeginThoseOfTheShardThatHasWaitedLongest() {
        slots = 0;
        final PendingRequest first = arrives(0);
        arrives(0);
        arrives(0);
        final PendingRequest second = arrives(1);
        arrives(1);
        final PendingRequest third = arrives(2);
        for (int i = 0; i < 3; i++) {
            slots = 1;
            step();
        }
        assertThat(answered).containsExactly(first, second, third);
        full.add(0); // keeps its place in front
        slots = 1;
        step();
        full.clear();
        final PendingRequest late = arrives(1);
        slots = 1;
        step();
        assertThat(answered).hasSize(5).doesNotContain(late);
        assertThat(answered.get(4).shard()).isZero();
    }

    @Test
    void shouldHandOverThoseThatHaveASlotNow() {
        slots = 0;
        final PendingRequest one = arrives(3);
        step();
        slots = 1;
        slow.add(one);
        step();
        assertThat(begun).containsExactly(one);
        assertThat(answered).isEmpty();
        assertThat(waiting.isEmpty()).isTrue();
    }

    @Test
    void shouldForgetAll() {
        slots = 0;
        final PendingRequest first = arrives(1);
        step();
        final PendingRequest second = arrives(0);
        final List<PendingRequest> all = new ArrayList<>();
        waiting.forEach(all::add);
        assertThat(all).containsExactly(first, second);
        waiting.clear();
        assertThat(waiting.isEmpty()).isTrue();
        slots = 2;
        step();
        assertThat(answered).isEmpty();

        final PendingRequest again = arrives(1);
        step();
        assertThat(answered).containsExactly(again);
    }
}
