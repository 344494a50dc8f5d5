package org.rowankv.server.retention;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

final class ExpirySweepAgentTest {
    private static final int CACHE = 1;
    private static final long LIFETIME_MS = 1_000;

    private final OnePrimary one = new OnePrimary();
    private final ExpirySweepAgent sweep =
            new ExpirySweepAgent(List.of(one.primary), one.retention, one.segments, one.clock);

    private void runUntilIdle() {
        do {
            sweep.doWork();
        } while (!sweep.isIdle());
    }

    /** The current pass may have gone past objects that expired since it began. */
    @Test
    void shouldKeepAWaiterForSpaceWaitingForARoundThatBeginsAfterItsQuestion() {
        one.put(CACHE, "k", 10, LIFETIME_MS);
        one.clock.advanceMs(3 * LIFETIME_MS);
        assertThat(sweep.requestPass()).isTrue();
        one.awaited = true;
        sweep.doWork();
        assertThat(sweep.isIdle()).as("its round waits for the backup").isFalse();

        one.clock.advanceMs(10);
        final long askedNs = one.clock.nanoTime();
        assertThat(sweep.requestPass()).isTrue();
        one.clock.advanceMs(10);
        one.awaited = false;
        runUntilIdle();
        assertThat(sweep.endedObjects()).isOne();
        assertThat(sweep.isAwaited(askedNs)).isTrue();

        one.clock.advanceMs(LIFETIME_MS);
        runUntilIdle();
        assertThat(sweep.isAwaited(askedNs)).isFalse();
    }
}
