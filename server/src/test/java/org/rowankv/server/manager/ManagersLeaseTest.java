package org.rowankv.server.manager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.rowankv.runtime.ManualClock;
import org.rowankv.runtime.concurrent.LatencyHistogram;
import org.rowankv.server.authority.ClockReading;
import org.rowankv.server.authority.CommitWait;
import org.rowankv.server.authority.Electorate;
import org.rowankv.server.authority.Grants;
import org.rowankv.server.authority.LeaseTimes;
import org.rowankv.server.authority.ManagerTerm;
import org.rowankv.server.authority.Votes;
import org.rowankv.server.membership.ClusterException;

/** A member that was started with another lease than its manager, which is server 0. */
final class ManagersLeaseTest {
    private static final int MANAGER = 0;
    private static final int MEMBER = 1;

    private record Sent(int from, int to, ByteBuffer message) {}

    private final ManualClock clock = new ManualClock();
    private final List<LeaseAgent> agents = new ArrayList<>();
    private final Queue<Sent> sent = new ArrayDeque<>();

    private void start(long... leasesMs) {
        final Electorate stored = new Electorate(1, MANAGER, List.of(1L, 1L), List.of(MANAGER, MEMBER));
        for (int server = 0; server < leasesMs.length; server++) {
            final int from = server;
            final LeaseAgent agent = new LeaseAgent(
                    server,
                    leasesMs.length,
                    1,
                    LeaseTimes.of(TimeUnit.MILLISECONDS.toNanos(leasesMs[server])),
                    clock,
                    (to, message) -> sent.add(new Sent(from, to, message)),
                    other -> false,
                    () -> {},
                    new LatencyHistogram());
            agents.add(agent);
            agent.started(
                    stored,
                    true,
                    server == MANAGER
                            ? new ManagerTerm(
                                    stored,
                                    null,
                                    null,
                                    Votes.NONE,
                                    Grants.NONE,
                                    new CommitWait(ClockReading.of(clock), null, Set.of()))
                            : null);
        }
        for (int step = 0; step < 100; step++) {
            clock.advanceMs(10);
            agents.forEach(LeaseAgent::doWork);
            for (Sent next = sent.poll(); next != null; next = sent.poll()) {
                agents.get(next.to()).onMessage(next.from(), 1, next.message());
            }
        }
    }

    @Test
    void shouldTakeNoLeaseOfAnotherLength() {
        start(400, 600);
        assertThat(agents.get(MEMBER).mayAnswer()).isFalse();
        assertThatThrownBy(agents.get(MEMBER)::requireManagersLease)
                .isInstanceOf(ClusterException.class)
                .hasMessageContaining("lease 600 ms")
                .hasMessageContaining("the manager has 400 ms")
                .hasMessageContaining("--lease=400");
        assertThatCode(agents.get(MANAGER)::requireManagersLease).doesNotThrowAnyException();
    }

    @Test
    void shouldTakeOneOfTheSameLength() {
        start(600, 600);
        assertThat(agents).allMatch(LeaseAgent::mayAnswer);
        for (LeaseAgent agent : agents) {
            assertThatCode(agent::requireManagersLease).doesNotThrowAnyException();
        }
    }
}
