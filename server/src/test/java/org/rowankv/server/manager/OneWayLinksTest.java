package org.rowankv.server.manager;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rowankv.runtime.ManualClock;
import org.rowankv.runtime.concurrent.LatencyHistogram;
import org.rowankv.server.authority.ClockReading;
import org.rowankv.server.authority.CommitWait;
import org.rowankv.server.authority.Electorate;
import org.rowankv.server.authority.Grants;
import org.rowankv.server.authority.LeaseTimes;
import org.rowankv.server.authority.ManagerTerm;
import org.rowankv.server.authority.Votes;

/** Leases of members, of which server 0 is the manager, while links pass messages in one direction only. */
final class OneWayLinksTest {
    private static final int MANAGER = 0;
    private static final int VICTIM = 1;
    private static final int OTHER = 2;
    private static final LeaseTimes TIMES = LeaseTimes.of(TimeUnit.MILLISECONDS.toNanos(400));
    private static final long LEASE_MS = 400;
    private static final long STEP_MS = 10;
    /** A renewal and a half: longer, something is wrong. */
    private static final long OVERDUE_MS = LEASE_MS / 5 * 3 / 2;

    private record Sent(int from, int to, ByteBuffer message) {}

    private final ManualClock clock = new ManualClock();
    private final List<LeaseAgent> agents = new ArrayList<>();
    private final Queue<Sent> sent = new ArrayDeque<>();
    private boolean[][] cut = {};
    private boolean haveEnded;

    private void start(int servers) {
        final List<Integer> members = new ArrayList<>();
        final List<Long> incarnations = new ArrayList<>();
        for (int server = 0; server < servers; server++) {
            members.add(server);
            incarnations.add(1L);
        }
        cut = new boolean[servers][servers];
        final Electorate stored = new Electorate(1, MANAGER, incarnations, members);
        for (int server = 0; server < servers; server++) {
            final int from = server;
            final LeaseAgent agent = new LeaseAgent(
                    server,
                    servers,
                    1,
                    TIMES,
                    clock,
                    (to, message) -> sent.add(new Sent(from, to, message)),
                    other -> haveEnded,
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
        pass(1_000);
        assertThat(agents).allMatch(LeaseAgent::mayAnswer);
    }

    private void pass(long ms) {
        for (long passed = 0; passed < ms; passed += STEP_MS) {
            clock.advanceMs(STEP_MS);
            agents.forEach(LeaseAgent::doWork);
            for (Sent next = sent.poll(); next != null; next = sent.poll()) {
                if (!cut[next.from()][next.to()]) {
                    agents.get(next.to()).onMessage(next.from(), 1, next.message());
                }
            }
        }
    }

    private void cutOff(int server, boolean hears, boolean sends) {
        for (int other = 0; other < agents.size(); other++) {
            cut[other][server] = !hears;
            cut[server][other] = !sends;
        }
    }

    private LeaseAgent manager() {
        return agents.get(MANAGER);
    }

    private Set<Integer> silent() {
        return manager().silent(TIMES.leaseNs());
    }

    private long sinceMs(ClockReading reading) {
        return TimeUnit.NANOSECONDS.toMillis(ClockReading.of(clock).leastNsSince(reading));
    }

    @ParameterizedTest
    @CsvSource({"true,false", "false,true", "false,false"})
    void shouldMissAMemberThatIsHeardInOneDirectionOnly(boolean hears, boolean sends) {
        start(3);
        cutOff(VICTIM, hears, sends);
        pass(LEASE_MS - 100);
        assertThat(silent()).isEmpty();
        pass(200);
        assertThat(silent()).containsExactly(VICTIM);
        // It waits for the end of what it granted, and so it grants nothing in vain.
        assertThat(sinceMs(manager().authority().managing().grants().answered().at(VICTIM)))
                .isGreaterThanOrEqualTo(LEASE_MS + 100 - OVERDUE_MS);
        assertThat(manager().mayAnswer() || manager().needsStoreVote()).isTrue();
        assertThat(agents.get(OTHER).mayAnswer() || manager().needsStoreVote()).isTrue();
    }

    @Test
    void shouldGrantAgainWhenTheLinkIsWhole() {
        start(3);
        cutOff(VICTIM, false, true);
        pass(LEASE_MS / 2);
        cutOff(VICTIM, true, true);
        pass(LEASE_MS / 2);
        assertThat(silent()).isEmpty();
        assertThat(agents.get(VICTIM).mayAnswer()).isTrue();
        pass(LEASE_MS);
        assertThat(silent()).isEmpty();
        assertThat(agents).allMatch(LeaseAgent::mayAnswer);
    }

    /** The others replace it, and wait for what the store and they themselves have confirmed of it. */
    @ParameterizedTest
    @CsvSource({"true,false", "false,true", "false,false"})
    void shouldNotActAgainstMostMembers(boolean hears, boolean sends) {
        start(3);
        cutOff(MANAGER, hears, sends);
        for (long passed = 0; passed < 4_000; passed += STEP_MS) {
            pass(STEP_MS);
            assertThat(silent()).isEmpty();
            assertThat(manager().needsStoreVote()).isFalse();
        }
        assertThat(manager().mayAnswer()).isFalse();
        for (int member : List.of(VICTIM, OTHER)) {
            assertThat(sinceMs(agents.get(member).authority().voter().lastConfirmation()))
                    .isGreaterThanOrEqualTo(4_000 - OVERDUE_MS - LEASE_MS / 5);
        }
        pass(1_500);
        assertThat(silent()).containsExactly(VICTIM, OTHER);
        assertThat(manager().needsStoreVote()).isTrue();
    }

    @ParameterizedTest
    @CsvSource({"true,false", "false,true", "false,false"})
    void shouldActAgainstTheOtherOneOfTwo(boolean hears, boolean sends) {
        start(2);
        cutOff(VICTIM, hears, sends);
        pass(LEASE_MS + 100);
        assertThat(silent()).containsExactly(VICTIM);
        assertThat(manager().needsStoreVote()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(ints = {3, 5})
    void shouldActAgainstThoseThatHaveEnded(int servers) {
        start(servers);
        haveEnded = true;
        cutOff(MANAGER, false, false);
        pass(LEASE_MS + 100);
        assertThat(silent()).hasSize(servers - 1);
        assertThat(manager().needsStoreVote()).isTrue();
    }

    @Test
    void shouldGrantAgainAfterAllWereCutOff() {
        start(3);
        cutOff(MANAGER, false, false);
        pass(2_000);
        cutOff(MANAGER, true, true);
        pass(LEASE_MS / 5 * 3);
        assertThat(agents).allMatch(LeaseAgent::mayAnswer);
    }
}
