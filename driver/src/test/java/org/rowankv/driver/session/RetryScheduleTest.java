package org.rowankv.driver.session;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rowankv.driver.ModelSession;
import org.rowankv.driver.api.ForwardingSession;
import org.rowankv.driver.api.Session;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.ResultBits;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.ManualClock;

/** When an operation has another attempt. */
final class RetryScheduleTest {
    private static final long DEADLINE_NS = 1_000_000_000;
    private static final Set<Status> FOR_ANOTHER = EnumSet.of(
            Status.STALE_TERM, Status.NOT_PRIMARY, Status.UNREACHABLE, Status.NO_VERSION, Status.UNDER_REPLICATED);

    /** Counts searches for a configuration. */
    private static final class SeekingSession implements ForwardingSession {
        private final ModelSession model;
        private int sought;
        private boolean finds;

        SeekingSession(ManualClock clock) {
            this.model = new ModelSession(clock, 1);
        }

        @Override
        public Session below() {
            return model;
        }

        @Override
        public boolean seek(long knownTerm) {
            sought++;
            return finds;
        }
    }

    private final ManualClock clock = new ManualClock();
    private final SeekingSession session = new SeekingSession(clock);
    private final RetrySchedule schedule = new RetrySchedule(session, clock);

    @BeforeEach
    void begin() {
        schedule.begin(clock.nanoTime() + DEADLINE_NS);
    }

    @Test
    void shouldRepeatAtOnceWhatHadNoReplyAndThenWithPausesUntilTheDeadline() {
        assertThat(schedule.afterAnswer(Status.NO_REPLY)).isZero();
        assertThat(session.sought)
                .as("the server may be lost, and another one the primary")
                .isEqualTo(1);
        assertThat(schedule.afterAnswer(Status.NO_REPLY)).isEqualTo(1_000_000);
        clock.advanceNs(DEADLINE_NS - 2_000_001);
        assertThat(schedule.afterAnswer(Status.NO_REPLY)).isEqualTo(2_000_000);
        clock.advanceNs(2_000_000);
        assertThat(schedule.afterAnswer(Status.NO_REPLY)).isEqualTo(RetrySchedule.NEVER);
    }

    /** A shard that is being opened has no primary for a while. */
    @ParameterizedTest
    @EnumSource(
            value = Status.class,
            names = {"STALE_TERM", "NOT_PRIMARY", "UNREACHABLE", "NO_VERSION", "UNDER_REPLICATED"})
    void shouldTryWhatWasNotAppliedUntilTheDeadline(Status status) {
        clock.advanceNs(DEADLINE_NS - 4_000_001);
        assertThat(schedule.afterAnswer(status)).isEqualTo(1_000_000);
        clock.advanceNs(1_000_000);
        assertThat(schedule.afterAnswer(status))
                .as("time for a pause of 2 ms, and half as much for the reply")
                .isEqualTo(RetrySchedule.NEVER);
        assertThat(session.sought)
                .as("for later operations, behind the last attempt too")
                .isEqualTo(2);
    }

    /** A lost reply to the opening of a session does not affect the mutation after it. */
    @Test
    void shouldForgetLostRepliesWithTheirRequest() {
        assertThat(schedule.afterAnswer(Status.NO_REPLY)).isZero();
        assertThat(schedule.isReplyLost()).isTrue();
        schedule.beginRequest();
        assertThat(schedule.isReplyLost()).isFalse();
        assertThat(schedule.afterAnswer(Status.NO_REPLY)).as("at once again").isZero();
    }

    @Test
    void shouldPauseLongerEachTimeUntilThereIsANewerConfiguration() {
        long before = 0;
        for (int i = 0; i < 20; i++) {
            final long pauseNs = schedule.afterAnswer(Status.NOT_PRIMARY);
            assertThat(pauseNs)
                    .isGreaterThanOrEqualTo(Math.max(1_000_000, before))
                    .isLessThanOrEqualTo(20_000_000);
            before = pauseNs;
        }
        assertThat(before).isEqualTo(20_000_000);
        session.finds = true;
        assertThat(schedule.afterAnswer(Status.STALE_TERM)).isZero();
        session.finds = false;
        assertThat(schedule.afterAnswer(Status.STALE_TERM)).isEqualTo(1_000_000);
    }

    private static Request damaged(int bits) {
        final Request request = new Request();
        request.answer(Status.CORRUPTED, bits, 0, 0);
        return request;
    }

    @Test
    void shouldRepeatWhatMetDamageAsLongAsItMayBeRepaired() {
        assertThat(schedule.afterAnswer(damaged(ResultBits.REPAIRABLE))).isEqualTo(1_000_000);
        assertThat(schedule.afterAnswer(damaged(ResultBits.REPAIRABLE))).isEqualTo(2_000_000);
        assertThat(schedule.afterAnswer(damaged(0))).as("it is lost").isEqualTo(RetrySchedule.NEVER);
        clock.advanceNs(DEADLINE_NS - 2_000_000);
        assertThat(schedule.afterAnswer(damaged(ResultBits.REPAIRABLE))).isEqualTo(RetrySchedule.NEVER);
    }

    @Test
    void shouldLetEveryOtherAnswerStand() {
        final Set<Status> others = EnumSet.complementOf(EnumSet.copyOf(FOR_ANOTHER));
        others.remove(Status.NO_REPLY);
        assertThat(others).allMatch(status -> schedule.afterAnswer(status) == RetrySchedule.NEVER);
    }
}
