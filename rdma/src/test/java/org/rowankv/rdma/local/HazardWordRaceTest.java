package org.rowankv.rdma.local;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rowankv.runtime.TestScale;

/**
 * A sender names a segment and reads the ring word again; a receiver advances the ring word and reads the names: on real
 * processors, whose stores are delayed, at least one of the two sees the other's store.
 */
@Tag("races")
@Tag("jvm")
final class HazardWordRaceTest {
    private static final int MEETINGS = TestScale.of(100_000, 2_000_000);
    private static final int SEGMENT = 5;
    private static final int SPINS = 2_000;
    private static final int SKEWS = 150;

    private final HazardWord[] hazards = new HazardWord[256];
    private final PaddedLong[] ringWords = new PaddedLong[hazards.length];
    /** The distance of the two threads. */
    private final AtomicIntegerArray progress = new AtomicIntegerArray(64);

    private final int[] waits = new int[64];
    private final boolean[] unchanged = new boolean[MEETINGS];
    private final boolean[] unnamed = new boolean[MEETINGS];

    /** Both threads have reached that round. */
    private void meet(int mine, int others, int meeting) {
        progress.set(mine, meeting);
        int spins = 0;
        while (progress.get(others) < meeting) {
            spins++;
            if (spins > SPINS) {
                Thread.yield();
            }
        }
    }

    /** Takes about so many nanoseconds, so that the two access each other's words at every distance. */
    private static int wait(int steps, int seed) {
        int value = seed;
        for (int i = 0; i < steps; i++) {
            value = value * 31 + i;
        }
        return value;
    }

    private void send() {
        for (int i = 0; i < MEETINGS; i++) {
            final HazardWord hazard = hazards[i % hazards.length];
            final PaddedLong word = ringWords[i % hazards.length];
            hazard.clear();
            meet(0, 32, 3 * i + 1);
            final long found = word.getVolatile();
            meet(0, 32, 3 * i + 2);
            waits[0] = wait(i % SKEWS, i);
            hazard.name(SEGMENT);
            unchanged[i] = word.getVolatile() == found;
            meet(0, 32, 3 * i + 3);
        }
    }

    private void receive() {
        for (int i = 0; i < MEETINGS; i++) {
            final HazardWord hazard = hazards[i % hazards.length];
            final PaddedLong word = ringWords[i % hazards.length];
            meet(32, 0, 3 * i + 1);
            unnamed[i] = hazard.names(SEGMENT); // from now on a store to it may be delayed
            meet(32, 0, 3 * i + 2);
            final long found = word.getVolatile();
            waits[32] = wait(i / SKEWS % SKEWS, i);
            word.compareAndSet(found, found + 1);
            unnamed[i] = !hazard.names(SEGMENT);
            meet(32, 0, 3 * i + 3);
        }
    }

    @Test
    @Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void shouldShowTheNameOrTheMove() throws InterruptedException {
        for (int i = 0; i < hazards.length; i++) {
            hazards[i] = new HazardWord();
            ringWords[i] = new PaddedLong();
        }
        final Thread receiver = new Thread(this::receive, "receiver");
        receiver.start();
        send();
        receiver.join();
        int late = 0;
        for (int i = 0; i < MEETINGS; i++) {
            if (unchanged[i] && unnamed[i]) {
                late++;
            }
        }
        assertThat(late).as("a segment was named late").isZero();
    }
}
