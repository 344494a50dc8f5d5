package org.rowankv.driver.session;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.rowankv.driver.ModelSession;
import org.rowankv.protocol.Operation;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.runtime.CounterStarts;
import org.rowankv.runtime.ManualClock;
import org.rowankv.runtime.SplittableRandomSource;

/** The end of a session's sequences; a request carries 48 bits. */
final class ClientSessionTest {
    private static final long MAX_SEQUENCE = (1L << 48) - 1;

    @Test
    void shouldTakeANewSessionBehindTheLastSequence() {
        final ManualClock clock = new ManualClock();
        final ClientSessionPool lanes =
                new ClientSessionPool(1, clock, new SplittableRandomSource(1), CounterStarts.USUAL);
        final ClientSession lane = new ClientSession(77, CounterStarts.nearEnds(300));
        final RequestAttempts attempts = lane.attempts(new ModelSession(clock), lanes, clock);
        final Set<Long> sessions = new HashSet<>();
        final Set<Long> closed = new HashSet<>();
        final Set<String> ids = new HashSet<>();
        for (int i = 0; i < 1000; i++) {
            final Request request = new Request().delete(1, new byte[] {1}, 0, 1);
            request.placed(5, i % 3);
            Request sent = attempts.beginMutation(request, lane, 1_000_000);
            while (sent != null) {
                assertThat(sent.sequence()).isLessThanOrEqualTo(MAX_SEQUENCE);
                if (sent.operation() == Operation.CLOSE_SESSION) {
                    closed.add(sent.sessionId());
                }
                sent.answer(Status.OK, 0, 0, 0);
                sent = attempts.answered();
            }
            sessions.add(request.sessionId());
            assertThat(ids.add(request.sessionId() + "/" + request.sequence())).isTrue();
        }
        assertThat(sessions).hasSize(2).contains(77L);
        assertThat(closed).as("the old session is closed where it was open").containsExactly(77L);
        assertThat(lane.abandoned()).isEmpty();
    }

    /** A server may be unresponsive for any time: the shards' leases end the sessions that the client forgets. */
    @Test
    void shouldKeepABoundedNumberOfSessionsToClose() {
        final ManualClock clock = new ManualClock();
        final ClientSessionPool lanes =
                new ClientSessionPool(1, clock, new SplittableRandomSource(1), CounterStarts.USUAL);
        final ClientSession lane = new ClientSession(77, CounterStarts.USUAL);
        final RequestAttempts attempts = lane.attempts(new ModelSession(clock), lanes, clock);
        long last = 0;
        for (int i = 0; i < 1000; i++) {
            final Request request = new Request().delete(1, new byte[] {1}, 0, 1);
            request.placed(5, 0);
            Request sent = attempts.beginMutation(request, lane, clock.nanoTime() + 1);
            clock.advanceNs(1);
            while (sent != null) {
                last = sent.operation() == Operation.OPEN_SESSION ? sent.sessionId() : last;
                sent.answer(sent.operation() == Operation.OPEN_SESSION ? Status.OK : Status.NO_REPLY, 0, 0, 0);
                sent = attempts.answered();
            }
            assertThat(request.status()).isEqualTo(Status.OUTCOME_UNKNOWN);
        }
        assertThat(lane.abandoned()).hasSize(ClientSession.MAX_ABANDONED);
        assertThat(lane.sessionId())
                .as("the one after the last that was opened")
                .isNotEqualTo(last);
    }
}
