package org.rowankv.server.retention;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class ExpirySweepAgentTest {
    private static final int CACHE = 1;
    private static final long LIFETIME_MS = 1_000;

    private final OnePrimary one = new OnePrimary();
    private final ExpirySweepAgent sweep = new ExpirySweepAgent(one.roles, one.retention, one.segments, one.clock);

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

    /** Only the primary expires: the end of an object is one of its versions. */
    @Test
    void shouldEndNothingInAShardThatIsAnotherServersNow() {
        one.put(CACHE, "k", 10, LIFETIME_MS);
        one.clock.advanceMs(3 * LIFETIME_MS);
        one.loseShard();
        final long before = one.primary.versions().last();
        assertThat(sweep.requestPass())
                .as("nothing is expired in the shards of this server")
                .isFalse();
        one.clock.advanceMs(20_000);
        runUntilIdle();
        assertThat(sweep.endedObjects()).isZero();
        assertThat(one.primary.versions().last()).isEqualTo(before);
    }

    @Test
    void shouldEndNothingMoreInAShardThatIsLostDuringThePass() {
        for (int i = 0; i < 40; i++) {
            one.put(CACHE, "k" + i, 10, LIFETIME_MS);
        }
        one.clock.advanceMs(3 * LIFETIME_MS);
        assertThat(sweep.requestPass()).isTrue();
        one.awaited = true;
        sweep.doWork();
        assertThat(sweep.isIdle())
                .as("the end of the first object waits for the backup")
                .isFalse();
        one.loseShard();
        one.awaited = false;
        for (int cycles = 0; cycles < 100; cycles++) {
            sweep.doWork();
        }
        assertThat(sweep.endedObjects())
                .as("the other primary completes what is under way, or not")
                .isZero();
    }
}
