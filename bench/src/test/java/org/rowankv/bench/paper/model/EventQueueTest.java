package org.rowankv.bench.paper.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

final class EventQueueTest {
    private record Added(long timeNs, int order) {}

    private final EventQueue queue = new EventQueue();

    @Test
    void shouldKeepTheOrderOfTimesThenOfAdding() {
        final SplittableRandom random = new SplittableRandom(3);
        final List<Added> added = new ArrayList<>();
        final List<Added> happened = new ArrayList<>();
        for (int i = 0; i < 5_000; i++) {
            final Added each = new Added(random.nextInt(500), i);
            added.add(each);
            queue.at(each.timeNs, nowNs -> {
                assertThat(nowNs).isEqualTo(each.timeNs);
                happened.add(each);
            });
        }
        queue.runUntil(1_000);

        added.sort(Comparator.comparingLong(Added::timeNs).thenComparingInt(Added::order));
        assertThat(happened).isEqualTo(added);
    }

    @Test
    void shouldKeepTheOrderWhileEventsAddEvents() {
        final SplittableRandom random = new SplittableRandom(4);
        final List<Long> times = new ArrayList<>();
        final ModelEvent again = new ModelEvent() {
            @Override
            public void happen(long nowNs) {
                times.add(nowNs);
                if (times.size() < 5_000) {
                    queue.at(nowNs + random.nextInt(50), this);
                    queue.at(nowNs + random.nextInt(50), times::add);
                }
            }
        };
        queue.at(0, again);
        queue.runUntil(Long.MAX_VALUE);

        assertThat(times).hasSizeGreaterThan(5_000).isSorted();
    }

    @Test
    void shouldLeaveWhatIsLaterThanTheEnd() {
        final List<Long> times = new ArrayList<>();
        queue.at(10, times::add);
        queue.at(11, times::add);
        queue.runUntil(10);
        assertThat(times).containsExactly(10L);

        assertThatThrownBy(() -> queue.at(9, times::add)).isInstanceOf(IllegalArgumentException.class);
        queue.runUntil(11);
        assertThat(times).containsExactly(10L, 11L);
    }
}
