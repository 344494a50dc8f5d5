package org.rowankv.sim.workload;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.rowankv.check.history.KeyAction;
import org.rowankv.protocol.Condition;

class CoverageTest {
    private static final int USUAL = 10;
    private static final int ALL = 100;

    private final Coverage coverage = new Coverage();

    private int weight() {
        return coverage.weight(KeyAction.REPLACE, KeyState.PRESENT, USUAL, ALL);
    }

    private void count(KeyAction action, KeyState state, int times) {
        for (int i = 0; i < times; i++) {
            coverage.count(action, Condition.ALWAYS, LifetimeKind.NONE, state);
        }
    }

    @Test
    void shouldPreferWhatWasNeverMetThenWhatWasSeldomMet() {
        count(KeyAction.GET, KeyState.PRESENT, 100);
        assertThat(weight()).isEqualTo(4 * USUAL);
        count(KeyAction.REPLACE, KeyState.PRESENT, 1);
        assertThat(weight()).isEqualTo(2 * USUAL);
        count(KeyAction.REPLACE, KeyState.PRESENT, 10);
        assertThat(weight()).isEqualTo(USUAL);
    }

    @Test
    void shouldCountEachStateByItself() {
        count(KeyAction.REPLACE, KeyState.ABSENT, 50);
        assertThat(weight()).isEqualTo(4 * USUAL);
    }

    @Test
    void shouldPrintWhatWasMetAndAddUp() {
        count(KeyAction.REPLACE, KeyState.PRESENT, 3);
        final Coverage sum = new Coverage();
        sum.addAll(coverage);
        sum.addAll(coverage);
        final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        sum.print(new PrintStream(bytes, true, StandardCharsets.UTF_8));
        assertThat(bytes.toString(StandardCharsets.UTF_8).lines())
                .hasSize(2)
                .last()
                .asString()
                .matches("  replace( +-){2} +6( +-){7}");
    }
}
