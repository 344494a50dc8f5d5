package org.rowankv.bench.trace;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.rowankv.bench.paper.cluster.Strategy;

/** The product traced: the same run gives the same writes, and they are those that its servers count. */
final class TracedRunTest {
    private static final int OBJECTS = 3_000;

    @Test
    void shouldWriteTheSameInEqualRuns() throws IOException {
        final TracedRun run = TracedRun.run(OBJECTS);
        final TracedRun again = TracedRun.run(OBJECTS);

        for (final WriteOwner owner : WriteOwner.values()) {
            assertThat(again.bytes(owner)).as(owner.label()).isEqualTo(run.bytes(owner));
        }
        for (final Strategy strategy : Strategy.values()) {
            assertThat(again.replay(strategy, false, 1)).isEqualTo(run.replay(strategy, false, 1));
        }
        assertThat(run.entries(WriteOwner.CLEAN)).isPositive();
        assertThat(run.entries(WriteOwner.MIGRATION)).isZero();
        assertThat(run.uncountedBytes()).isZero();
        assertThat(run.misplacedLandings()).isZero();
        assertThat(run.incompleteOperations()).isZero();
    }
}
