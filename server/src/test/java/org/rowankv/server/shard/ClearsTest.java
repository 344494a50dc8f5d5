package org.rowankv.server.shard;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.BitSet;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.server.shard.Clears.Clear;

/** The versions up to which caches were cleared. */
final class ClearsTest {
    private final Clears clears = new Clears();

    private void sweep() {
        clears.endSweep(clears.beginSweep(), true);
    }

    /** A reader racing with the reuse of a segment may read such ids. */
    @ParameterizedTest
    @ValueSource(ints = {Integer.MIN_VALUE, -1_040_950_491, -1, 16, Integer.MAX_VALUE})
    void shouldKnowNothingOfWhatIsNoCache(int cacheId) {
        clears.clear(3, 7, true, 1);
        assertThat(clears.clearedUpTo(cacheId)).isZero();
        assertThat(clears.isDestroyed(cacheId)).isFalse();
    }

    @Test
    void shouldKeepTheHighestVersion() {
        clears.clear(20, 7, false, 1);
        clears.clear(20, 5, false, 1);
        assertThat(clears.clearedUpTo(20)).isEqualTo(7);
        assertThat(clears.isDestroyed(20)).isFalse();
    }

    @Test
    void shouldRefuseEachDestroyedIdAndNoOther() {
        final BitSet ids = new BitSet();
        ids.set(63, 65);
        ids.set(1_000);
        clears.retire(ids);
        clears.clear(130, 7, true, 1);
        ids.set(130);
        for (int id = 0; id < 2_000; id++) {
            assertThat(clears.isDestroyed(id)).as("cache %d", id).isEqualTo(ids.get(id));
        }
        assertThat(clears.destroyedIds()).isEqualTo(ids);
    }

    /** The entry of each of them may go only once what it ended is counted dead. */
    @Test
    void shouldHoldTheHorizonOfTheOldestClearThatAwaitsASweep() {
        assertThat(clears.horizon()).isEqualTo(Long.MAX_VALUE);
        clears.clear(3, 7, false, 10);
        clears.clear(4, 8, false, 12);
        final int covered = clears.beginSweep();
        clears.clear(5, 9, false, 14);
        assertThat(clears.horizon()).isEqualTo(10);

        clears.endSweep(covered, true);

        assertThat(clears.horizon()).as("it came while the sweep was half done").isEqualTo(14);
        assertThat(clears.isSwept()).isFalse();
        sweep();
        assertThat(clears.horizon()).isEqualTo(Long.MAX_VALUE);
        assertThat(clears.isSwept()).isTrue();
    }

    /** The newer one may not be on all replicas yet. */
    @Test
    void shouldHoldTheHorizonOfAnOlderClearThatArrivesLater() {
        clears.clear(3, 9, false, 14);
        clears.clear(3, 7, false, 10);
        assertThat(clears.horizon()).isEqualTo(10);
        sweep();
        assertThat(clears.horizon()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void shouldStayInCheckpointsUntilOneIsWithoutWhatItEnded() {
        clears.clear(3, 7, false, 1);
        final List<Clear> first = clears.forCheckpoint();
        assertThat(first).containsExactly(new Clear(3, 7));
        assertThat(clears.notRemoved(first)).isEqualTo(first);
        sweep();
        assertThat(clears.notRemoved(first)).isEmpty();

        clears.reflected(first);

        assertThat(clears.forCheckpoint()).isEmpty();
        assertThat(clears.clearedUpTo(3)).as("as long as the replica lives").isEqualTo(7);
    }

    @Test
    void shouldReturnToCheckpointsWithItsNextClear() {
        clears.clear(3, 7, false, 1);
        final List<Clear> first = clears.forCheckpoint();
        sweep();
        clears.clear(3, 9, false, 1);

        clears.reflected(first);

        assertThat(clears.forCheckpoint()).containsExactly(new Clear(3, 9));
        assertThat(clears.notRemoved(clears.forCheckpoint())).hasSize(1);
        sweep();
        clears.reflected(clears.forCheckpoint());
        clears.clear(3, 11, false, 1);
        assertThat(clears.forCheckpoint()).containsExactly(new Clear(3, 11));
    }

    @Test
    void shouldSweepAgainWhatIsRepaired() {
        clears.clear(3, 7, false, 5);
        sweep();
        clears.repaired(3, 8);
        clears.repaired(4, 1);
        assertThat(clears.isSwept()).isTrue();
        clears.repaired(3, 7);
        assertThat(clears.isSwept()).isFalse();
        assertThat(clears.horizon()).as("the clear's entry stays").isZero();
    }

    /** A damaged entry is repaired after the sweep, and is still hidden then. */
    @Test
    void shouldStayInCheckpointsWhenASweepHasLeftSomething() {
        clears.clear(3, 7, false, 1);
        clears.endSweep(clears.beginSweep(), false);
        assertThat(clears.isSwept()).isTrue();
        assertThat(clears.notRemoved(clears.forCheckpoint())).hasSize(1);
        clears.clear(4, 8, false, 1);
        sweep();
        assertThat(clears.notRemoved(clears.forCheckpoint())).isEmpty();
    }
}
