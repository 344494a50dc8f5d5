package org.rowankv.check.verify;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rowankv.runtime.SystemClock;

/** The workload against a correct store and against stores with one bug each. */
class VerifyRunTest {
    private static VerifyReport run(Bug bug, int seconds) {
        final VerifySettings settings = new VerifySettings(seconds, 8, 10, 42, 400, 60, 20, 0);
        final PrintStream out = new PrintStream(new ByteArrayOutputStream(), true, StandardCharsets.UTF_8);
        try (ModelStore store = new ModelStore(bug)) {
            return new VerifyRun(store, settings, SystemClock.INSTANCE, out).run();
        }
    }

    @Test
    void shouldFindNothingInAStoreThatIsRight() {
        final VerifyReport report = run(Bug.NONE, 3);
        assertThat(report.anomalies()).isEmpty();
        assertThat(report.operations()).isPositive();
        for (DeliveryFault fault : DeliveryFault.values()) {
            assertThat(report.count("fault." + fault.label())).as(fault.label()).isPositive();
        }
        assertThat(report.count("disturbance.links fenced")).isPositive();
        assertThat(report.count("disturbance.answers replayed")).isPositive();
        assertThat(report.count("disturbance.outcomes unknown")).isPositive();
    }

    @ParameterizedTest
    @EnumSource(value = Bug.class, mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void shouldFindEachBug(Bug bug) {
        // The run ends with the first window that shows it.
        assertThat(run(bug, 30).anomalies()).as(bug.name()).isNotEmpty();
    }
}
