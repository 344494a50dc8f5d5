package org.rowankv.server.retention;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class SessionLeaseAgentTest {
    private static final long SESSION = 7;
    private static final long TICK_MS = 1_000;

    private final OnePrimary one = new OnePrimary();
    private final SessionLeaseAgent leases =
            new SessionLeaseAgent(one.roles, one.retention, one.clock, SessionLeaseAgent.TICKS * TICK_MS * 1_000_000);

    private void step(int times) {
        for (int i = 0; i < times; i++) {
            leases.doWork();
        }
    }

    /** A client cannot renew its lease at a stalled server: it has the whole lease when the server resumes. */
    @Test
    void shouldCountTheTimeThatItsServerStoodStillAsOneTick() {
        one.openSession(SESSION);
        one.clock.advanceMs(100 * TICK_MS);
        step(100);
        assertThat(leases.ticks()).isOne();
        assertThat(one.replica.sessions().openIds()).containsExactly(SESSION);

        for (int tick = 2; tick <= SessionLeaseAgent.TICKS; tick++) {
            one.clock.advanceMs(TICK_MS);
            step(10);
            assertThat(leases.ticks()).isEqualTo(tick);
        }
        assertThat(one.replica.sessions().openIds()).containsExactly(SESSION);
        one.clock.advanceMs(TICK_MS);
        step(10);
        assertThat(one.replica.sessions().openIds()).isEmpty();
        assertThat(leases.endedSessions()).isOne();
    }

    /** The new primary grants every session a whole lease. */
    @Test
    void shouldEndNoSessionOfAShardThatIsAnotherServersNow() {
        one.openSession(SESSION);
        for (int tick = 1; tick <= SessionLeaseAgent.TICKS; tick++) {
            one.clock.advanceMs(TICK_MS);
            step(10);
        }
        one.loseShard();
        for (int tick = 1; tick <= 3; tick++) {
            one.clock.advanceMs(TICK_MS);
            step(10);
        }
        assertThat(one.replica.sessions().openIds()).containsExactly(SESSION);
        assertThat(leases.endedSessions()).isZero();
    }
}
