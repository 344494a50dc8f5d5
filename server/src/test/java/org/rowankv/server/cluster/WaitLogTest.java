package org.rowankv.server.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.rowankv.runtime.ManualClock;
import org.slf4j.Marker;
import org.slf4j.event.Level;
import org.slf4j.helpers.LegacyAbstractLogger;
import org.slf4j.helpers.MessageFormatter;

/** A wait has a line at its begin, a line at its end, and exponentially fewer in between. */
final class WaitLogTest {
    private final List<String> lines = new ArrayList<>();
    private final ManualClock clock = new ManualClock();
    private final WaitLog log = new WaitLog(new RecordedLines(), "a", clock);

    private final class RecordedLines extends LegacyAbstractLogger {
        private static final long serialVersionUID = 1L;

        @Override
        public boolean isTraceEnabled() {
            return true;
        }

        @Override
        public boolean isDebugEnabled() {
            return true;
        }

        @Override
        public boolean isInfoEnabled() {
            return true;
        }

        @Override
        public boolean isWarnEnabled() {
            return true;
        }

        @Override
        public boolean isErrorEnabled() {
            return true;
        }

        @Override
        protected String getFullyQualifiedCallerName() {
            return "";
        }

        @Override
        protected void handleNormalizedLoggingCall(
                Level level, Marker marker, String pattern, Object[] arguments, Throwable throwable) {
            lines.add(MessageFormatter.basicArrayFormat(pattern, arguments));
        }
    }

    private void waitsFor(int seconds, String detail) {
        for (int i = 0; i < seconds; i++) {
            clock.advanceMs(1_000);
            log.waits("the store is away", ": " + detail + i);
        }
    }

    @Test
    void shouldLogTheBeginningAndTheEndOfAWaitOnce() {
        log.waits("the store is away", ": lost");
        waitsFor(4, "lost again ");
        log.goesOn();
        log.goesOn();

        assertThat(lines)
                .containsExactly("server a: the store is away: lost", "server a: over after 4 s: the store is away");
        assertThat(log.text()).isEmpty();
    }

    @Test
    void shouldLogALongWaitEverMoreRarelyAndForHowLong() {
        log.waits("the store is away", ": lost");
        waitsFor(5 + 10 + 20, "lost ");

        assertThat(lines)
                .containsExactly(
                        "server a: the store is away: lost",
                        "server a: for 5 s: the store is away: lost 4",
                        "server a: for 15 s: the store is away: lost 14",
                        "server a: for 35 s: the store is away: lost 34");
        assertThat(log.text()).isEqualTo("the store is away: lost 34");
        waitsFor(3_600, "lost ");
        // After 75, 155 and 315 s, then every five minutes.
        assertThat(lines).hasSize(4 + 3 + 11).last().isEqualTo("server a: for 3615 s: the store is away: lost 3579");
    }

    @Test
    void shouldLogAnotherStateAtOnce() {
        log.waits("waiting for b", "");
        log.waits("waiting for c", "");
        log.waits("waiting for b", "");

        assertThat(lines)
                .containsExactly("server a: waiting for b", "server a: waiting for c", "server a: waiting for b");
    }
}
