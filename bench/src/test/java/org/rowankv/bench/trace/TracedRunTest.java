package org.rowankv.bench.trace;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** A small traced run of the product, and what the bars say of it. */
final class TracedRunTest {
    private static final int OBJECTS = 10_000;
    private static final int OPERATIONS = 6 * OBJECTS;
    /** So few that no segment is nearly empty afterwards. */
    private static final int FEW = 500;

    private final ByteArrayOutputStream printed = new ByteArrayOutputStream();
    private final TraceCommand command = new TraceCommand(new PrintStream(printed, true, StandardCharsets.UTF_8));

    private String printed() {
        return printed.toString(StandardCharsets.UTF_8);
    }

    @Test
    void shouldMeetItsBars() throws Exception {
        final TracedRun run = TracedRun.run(OBJECTS, OPERATIONS, false);
        final TraceBars bars = command.judge(run);

        assertThat(bars.missed()).as(printed()).isZero();
        assertThat(bars.count()).isEqualTo(14);
        assertThat(run.trace().entries(WriteOwner.MIGRATION)).isZero();
    }

    @Test
    void shouldNoticeThatNothingIsCleaned() throws Exception {
        final TraceBars bars = command.judge(TracedRun.run(OBJECTS, FEW, true));

        assertThat(bars.missed()).as(printed()).isPositive();
        assertThat(printed()).containsPattern("entries cleaned meanwhile +0  MISSED");
    }
}
