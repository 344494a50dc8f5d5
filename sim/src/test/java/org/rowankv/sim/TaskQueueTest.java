package org.rowankv.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.rowankv.runtime.RandomSource;
import org.rowankv.runtime.SplittableRandomSource;

class TaskQueueTest {
    private static final class Idle extends Task {
        private long dueNs = NEVER;

        @Override
        public long readyAtNs() {
            return dueNs;
        }

        @Override
        public void step() {
            throw new UnsupportedOperationException();
        }
    }

    @Test
    void shouldKnowAtAnyTimeWhoCanGoOnAndWhenTheNextCan() {
        final RandomSource random = new SplittableRandomSource(7).fork("queue");
        final TaskQueue queue = new TaskQueue();
        final List<Idle> all = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            all.add(new Idle());
        }
        long nowNs = 0;
        for (int i = 0; i < 20_000; i++) {
            nowNs += random.nextInt(3);
            queue.advance(nowNs);
            final Idle one = all.get(random.nextInt(all.size()));
            one.dueNs = switch (random.nextInt(8)) {
                case 0, 1 -> 0;
                case 2 -> Task.NEVER;
                default -> nowNs + random.nextInt(300);
            };
            if (random.nextInt(10) == 0) {
                queue.remove(one);
                one.dueNs = Task.NEVER;
            } else {
                queue.place(one, one.dueNs, nowNs);
            }
            assertAgrees(queue, all, nowNs);
        }
        queue.clear();
        assertThat(queue.readyCount()).isZero();
        assertThat(queue.earliestNs()).isEqualTo(Task.NEVER);
        assertThat(all).allMatch(one -> one.index() < 0);
    }

    private static void assertAgrees(TaskQueue queue, List<Idle> all, long nowNs) {
        final Set<Task> ready = new HashSet<>();
        for (int i = 0; i < queue.readyCount(); i++) {
            ready.add(queue.ready(i));
        }
        final Set<Task> expected = new HashSet<>();
        long earliest = Task.NEVER;
        for (Idle one : all) {
            if (one.dueNs <= nowNs) {
                expected.add(one);
            } else {
                earliest = Math.min(earliest, one.dueNs);
            }
        }
        assertThat(ready).isEqualTo(expected);
        assertThat(queue.readyCount()).isEqualTo(expected.size());
        assertThat(queue.earliestNs()).isEqualTo(earliest);
    }
}
