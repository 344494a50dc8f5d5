package org.rowankv.bench.trace;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.rowankv.bench.paper.cluster.Strategy;

/** What the checks of a trace find, and how a trace is replayed. */
final class WriteTraceTest {
    private static final int SEGMENT = 4096;
    private static final int BASE = 8192;

    private final WriteTrace trace = new WriteTrace();

    private void put(int length) {
        trace.add(WriteOwner.WORKER, 0, BASE, 1, length, length, true);
    }

    private void land(int server, int offset, int length) {
        trace.add(WriteOwner.BACKUP, server, BASE + offset, 9, length, length, true);
    }

    private long misplaced() {
        return LandedOnce.misplaced(trace, SEGMENT, BASE);
    }

    @Test
    void shouldFindLandingsThatOverlapOrLeaveAGap() {
        put(128);
        land(1, 128, 64);
        land(1, 0, 128);
        land(2, 0, 128);
        assertThat(misplaced()).as("in whatever order").isZero();

        land(1, 128, 64);
        assertThat(misplaced()).as("twice").isEqualTo(1);
        land(2, 192, 64);
        assertThat(misplaced()).as("behind a gap").isEqualTo(2);
    }

    @Test
    void shouldFindOperationsThatLackABackup() {
        put(64);
        land(1, 0, 64);
        assertThat(LandedOnce.incomplete(trace, 2)).isEqualTo(1);
        land(1, 64, 64);
        assertThat(LandedOnce.incomplete(trace, 2)).as("the same one twice").isEqualTo(1);

        put(64);
        land(2, 0, 64);
        land(1, 128, 64);
        assertThat(LandedOnce.incomplete(trace, 2)).isEqualTo(1);
    }

    /** A length that is no multiple of a line costs more than it counts. */
    @Test
    void shouldFindThatThePaddingIsNotCounted() {
        for (int i = 0; i < 1_000; i++) {
            put(128);
            land(1, 128 * i, 128);
        }
        final TraceReplay.Outcome whole = TraceReplay.run(trace, 2, Strategy.ROWAN, false, 1);
        assertThat(whole.requestedBytes()).isEqualTo(whole.placedBytes());

        put(100);
        land(1, 128_000, 100);
        put(100);
        final TraceReplay.Outcome cut = TraceReplay.run(trace, 2, Strategy.ROWAN, false, 1);
        assertThat(cut.requestedBytes()).isGreaterThan(cut.placedBytes());
    }

    @Test
    void shouldReplayTheSameWayFromTheSameSeed() {
        for (int i = 0; i < 5_000; i++) {
            put(64);
            land(1 + i % 2, 0, 64);
            land(3, 0, 64);
        }
        trace.measureFromHere();
        for (int i = 0; i < 20_000; i++) {
            put(64);
            land(1 + i % 2, 0, 64);
            land(3, 0, 64);
        }
        for (final Strategy strategy : Strategy.values()) {
            assertThat(TraceReplay.run(trace, 4, strategy, false, 5))
                    .isEqualTo(TraceReplay.run(trace, 4, strategy, false, 5));
        }
    }
}
