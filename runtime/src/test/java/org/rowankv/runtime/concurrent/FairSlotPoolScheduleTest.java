package org.rowankv.runtime.concurrent;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rowankv.runtime.Chaos;
import org.rowankv.runtime.Clock;
import org.rowankv.runtime.ScheduleExplorer;
import org.rowankv.runtime.TestScale;

/**
 * Slots with a wait queue, under every schedule with a bounded number of preemptions: no thread stays parked while a
 * slot is free, and no slot has two holders. This holds even when a thread gives up or fails.
 */
final class FairSlotPoolScheduleTest {
    private static final long DEADLINE_NS = 1_000;

    private static final class Acquirers implements ScheduleExplorer.Scenario, Clock {
        private final int count;
        private final int rounds;
        /** The thread whose deadline passes after its first wait; −1: none. */
        private final int impatient;

        private final FairSlotPool line;
        private final int[] holders;
        private final int[] served;
        private final int[] looked;

        Acquirers(ScheduleExplorer explorer, int count, int slots, int rounds, int impatient) {
            this.count = count;
            this.rounds = rounds;
            this.impatient = impatient;
            this.line = new FairSlotPool(new SlotPool(slots), explorer, this);
            this.holders = new int[slots];
            this.served = new int[count];
            this.looked = new int[count];
        }

        @Override
        public List<Runnable> threads() {
            final List<Runnable> threads = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                final int number = i;
                threads.add(() -> acquire(number));
            }
            return threads;
        }

        private void acquire(int number) {
            for (int round = 0; round < rounds; round++) {
                final int slot = line.acquire(DEADLINE_NS, () -> false);
                if (slot < 0) {
                    return;
                }
                holders[slot]++;
                Chaos.point("model.holds");
                assertThat(holders[slot]).isEqualTo(1);
                holders[slot]--;
                served[number]++;
                line.release(slot);
            }
        }

        @Override
        public boolean mayTimeOut(int thread) {
            return thread == impatient;
        }

        @Override
        public long nanoTime() {
            final int index = Integer.parseInt(Thread.currentThread().getName().replace("explored ", ""));
            return looked[index]++ > 0 && index == impatient ? DEADLINE_NS : 0;
        }

        @Override
        public long wallMs() {
            return 0;
        }

        @Override
        public void check() {
            for (int i = 0; i < count; i++) {
                if (i != impatient) {
                    assertThat(served[i]).as("acquirer %d", i).isEqualTo(rounds);
                }
            }
            for (int i = 0; i < holders.length; i++) {
                assertThat(line.tryAcquire()).isNotNegative(); // the queue is empty and no slot is lost
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "2,1,1,-1",
        "2,1,2,-1",
        "3,1,1,-1",
        "3,2,1,-1",
        "3,1,1,0",
        "3,1,1,1",
        "3,1,1,2",
        "3,2,1,2",
        "3,2,2,-1",
        "4,2,1,-1"
    })
    void shouldServeAllThatDoNotGiveUp(int count, int slots, int rounds, int impatient) {
        try (ScheduleExplorer explorer = new ScheduleExplorer(TestScale.of(2, 3))) {
            assertThat(explorer.explore(() -> new Acquirers(explorer, count, slots, rounds, impatient)))
                    .isGreaterThan(10);
        }
    }
}
